//! 3 × 3 convolution without padding, stride 1, on images whose channels lie together (height, width, channel).
//!
//!   y[r, c, o] = b[o] + Σ_{i,j,k} W[o, k, i, j] x[r+i, c+j, k]
//!
//! With channels together the nine pixels of a patch are three runs of 3·inputs numbers, so the product reads images
//! where they lie: six pixels by sixteen outputs stay in registers, and the weights of sixteen outputs and the rows under
//! the kernel stay in the first cache. Rejected: copying patches to a matrix for `gemm`, nine times the memory
//! traffic for the same arithmetic.

use super::{Real, linear::add_rows, product::Into};
use crate::kernels::{Kernels, Lanes, Scalar, dispatch};
use std::ops::Range;

/// A convolution; its parameters are W, outputs × inputs × 3 × 3, then b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// Channels that go in.
    pub inputs: usize,
    /// Channels that come out, a multiple of 32.
    pub outputs: usize,
    /// Height and width of what goes in.
    pub side: usize,
}

/// Outputs whose weights lie together in packed weights.
const TOGETHER: usize = 16;

impl Convolution {
    /// Number of parameters.
    pub fn size(self) -> usize {
        self.weights() + self.outputs
    }

    /// Number of weights.
    pub fn weights(self) -> usize {
        9 * self.inputs * self.outputs
    }

    /// Height and width of what comes out.
    pub fn width(self) -> usize {
        self.side - 2
    }

    /// Multiplications and additions of one pass over an image.
    pub fn flops(self) -> f64 {
        2.0 * self.weights() as f64 * (self.width() * self.width()) as f64
    }

    /// Weights in the order that `forward` reads: by sixteen outputs, kernel row, column, input, output.
    pub fn pack<T: Real>(self, parameters: &[T], packed: &mut [T]) {
        let mut to = packed.iter_mut();
        for first in (0..self.outputs).step_by(TOGETHER) {
            for pixel in 0..9 {
                for input in 0..self.inputs {
                    for (output, to) in (first..first + TOGETHER).zip(&mut to) {
                        *to = parameters[(output * self.inputs + input) * 9 + pixel];
                    }
                }
            }
        }
    }

    /// Writes these rows of the result for one image.
    pub fn forward<T: Real>(self, packed: &[T], bias: &[T], image: &[T], rows: Range<usize>, y: &mut [T]) {
        convolve(Kernels::detect(), self, packed, bias, image, rows, y);
    }

    /// Adds one image's part of ∂W to `sums`, which is in the order kernel row, column, input, output.
    pub fn backward<T: Real>(self, image: &[T], dy: &[T], sums: &mut [T]) {
        correlate(Kernels::detect(), self, image, dy, sums);
    }

    /// Adds one image's part of ∂b.
    pub fn backward_bias<T: Real>(self, dy: &[T], bias: &mut [T]) {
        add_rows(dy, bias);
    }

    /// `sums` in the order of the parameters.
    pub fn unpack<T: Real>(self, sums: &[T], gradient: &mut [T], into: Into) {
        for (k, gradient) in gradient[..self.weights()].iter_mut().enumerate() {
            let (output, input, pixel) = (k / 9 / self.inputs, k / 9 % self.inputs, k % 9);
            let sum = sums[(pixel * self.inputs + input) * self.outputs + output];
            *gradient = if into == Into::Add { *gradient + sum } else { sum };
        }
    }
}

dispatch! { narrow
    /// Some rows of y for one image.
    convolve => convolve_lanes(
        shape: Convolution, packed: &[T], bias: &[T], image: &[T], rows: Range<usize>, y: &mut [T],
    )
}

#[inline(always)]
fn convolve_lanes<L: Lanes>(
    shape: Convolution,
    packed: &[L::Scalar],
    bias: &[L::Scalar],
    image: &[L::Scalar],
    rows: Range<usize>,
    y: &mut [L::Scalar],
) {
    const PIXELS: usize = 6;
    let width = shape.width();
    assert!(shape.outputs.is_multiple_of(TOGETHER) && TOGETHER.is_multiple_of(2 * L::WIDTH));
    assert!(packed.len() == shape.weights() && bias.len() == shape.outputs && rows.end <= width);
    assert!(image.len() == shape.side * shape.side * shape.inputs);
    assert!(y.len() == rows.len() * width * shape.outputs);
    for output in (0..shape.outputs).step_by(2 * L::WIDTH) {
        for row in rows.clone() {
            let y = y[(row - rows.start) * width * shape.outputs..].as_mut_ptr();
            let mut column = 0;
            while column < width {
                // SAFETY: row < width and the tile ends within the row; the slices have the lengths asserted above.
                unsafe {
                    if column + PIXELS <= width {
                        tile::<L, PIXELS>(shape, packed, bias, image, (row, column, output), y);
                        column += PIXELS;
                    } else {
                        tile::<L, 1>(shape, packed, bias, image, (row, column, output), y);
                        column += 1;
                    }
                }
            }
        }
    }
}

/// `P` pixels by two vectors of outputs.
///
/// # Safety
/// The tile must lie within the image, the slices have the lengths of `shape`, and `y` point to its row's start.
#[inline(always)]
unsafe fn tile<L: Lanes, const P: usize>(
    shape: Convolution,
    packed: &[L::Scalar],
    bias: &[L::Scalar],
    image: &[L::Scalar],
    (row, column, output): (usize, usize, usize),
    y: *mut L::Scalar,
) {
    let run = 3 * shape.inputs;
    let block = packed.as_ptr().wrapping_add(output / TOGETHER * 3 * run * TOGETHER + output % TOGETHER);
    // SAFETY: the caller's promise; a run of the last pixel ends where its image row ends.
    unsafe {
        let bias = bias.as_ptr().add(output);
        let mut sums = [[L::load(bias), L::load(bias.add(L::WIDTH))]; P];
        for i in 0..3 {
            let x = image.as_ptr().add(((row + i) * shape.side + column) * shape.inputs);
            let weight = block.add(i * run * TOGETHER);
            for k in 0..run {
                let weight = weight.add(k * TOGETHER);
                let (left, right) = (L::load(weight), L::load(weight.add(L::WIDTH)));
                for p in 0..P {
                    let x = L::splat(*x.add(p * shape.inputs + k));
                    sums[p] = [x.mul_add(left, sums[p][0]), x.mul_add(right, sums[p][1])];
                }
            }
        }
        for p in 0..P {
            let y = y.add((column + p) * shape.outputs + output);
            sums[p][0].store(y);
            sums[p][1].store(y.add(L::WIDTH));
        }
    }
}

dispatch! { narrow
    /// ∂W of one image, added to `sums`.
    correlate => correlate_lanes(shape: Convolution, image: &[T], dy: &[T], sums: &mut [T])
}

/// Three weights of one run by four vectors of outputs stay in registers over the whole image.
#[inline(always)]
fn correlate_lanes<L: Lanes>(
    shape: Convolution,
    image: &[L::Scalar],
    dy: &[L::Scalar],
    sums: &mut [L::Scalar],
) {
    const VECTORS: usize = 4;
    let (run, width, outputs) = (3 * shape.inputs, shape.width(), shape.outputs);
    assert!(outputs.is_multiple_of(VECTORS * L::WIDTH) && sums.len() == shape.weights());
    assert!(image.len() == shape.side * shape.side * shape.inputs && dy.len() == width * width * outputs);
    for (i, k) in (0..3).flat_map(|i| (0..run).step_by(3).map(move |k| (i, k))) {
        for output in (0..outputs).step_by(VECTORS * L::WIDTH) {
            let mut total = [[L::splat(L::Scalar::default()); VECTORS]; 3];
            for row in 0..width {
                for column in 0..width {
                    // SAFETY: k + 3 ≤ run numbers from a pixel of the result on lie in the image row under it.
                    unsafe {
                        let x = image.as_ptr().add(((row + i) * shape.side + column) * shape.inputs + k);
                        let d = dy.as_ptr().add((row * width + column) * outputs + output);
                        let d: [L; VECTORS] = std::array::from_fn(|v| L::load(d.add(v * L::WIDTH)));
                        for j in 0..3 {
                            let x = L::splat(*x.add(j));
                            total[j] = std::array::from_fn(|v| x.mul_add(d[v], total[j][v]));
                        }
                    }
                }
            }
            for (j, v) in (0..3).flat_map(|j| (0..VECTORS).map(move |v| (j, v))) {
                let to = &mut sums[(i * run + k + j) * outputs + output + v * L::WIDTH..][..L::WIDTH];
                // SAFETY: the slice has WIDTH numbers.
                unsafe { L::load(to.as_ptr()).add(total[j][v]).store(to.as_mut_ptr()) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::differences::{agrees, wave};

    const SHAPE: Convolution = Convolution { inputs: 2, outputs: 32, side: 9 };

    /// The definition.
    fn plain(shape: Convolution, parameters: &[f64], image: &[f64]) -> Vec<f64> {
        let (weight, bias) = parameters.split_at(shape.weights());
        let (width, mut y) = (shape.width(), Vec::new());
        for (row, column) in (0..width).flat_map(|row| (0..width).map(move |column| (row, column))) {
            for output in 0..shape.outputs {
                let mut sum = bias[output];
                for (k, pixel) in (0..shape.inputs).flat_map(|k| (0..9).map(move |pixel| (k, pixel))) {
                    let (i, j) = (row + pixel / 3, column + pixel % 3);
                    sum += weight[(output * shape.inputs + k) * 9 + pixel]
                        * image[(i * shape.side + j) * shape.inputs + k];
                }
                y.push(sum);
            }
        }
        y
    }

    fn fast<T: Real>(kernels: Kernels, parameters: &[f64], image: &[f64]) -> Vec<f64> {
        let narrow = |from: &[f64]| from.iter().map(|x| T::from_f64(*x)).collect::<Vec<_>>();
        let (parameters, image, mut packed) =
            (narrow(parameters), narrow(image), vec![T::ZERO; SHAPE.weights()]);
        SHAPE.pack(&parameters, &mut packed);
        let mut y = [T::ZERO; 7 * 7 * 32];
        let (top, bottom) = y.split_at_mut(3 * 7 * 32);
        let bias = &parameters[SHAPE.weights()..];
        convolve(kernels, SHAPE, &packed, bias, &image, 0..3, top);
        convolve(kernels, SHAPE, &packed, bias, &image, 3..7, bottom);
        y.iter().map(|y| y.to_f64()).collect()
    }

    #[test]
    fn agrees_with_the_definition() {
        let (parameters, image) = (wave(SHAPE.size(), 1), wave(9 * 9 * 2, 2));
        let exact = plain(SHAPE, &parameters, &image);
        for kernels in Kernels::available() {
            let close = |y: Vec<f64>, bound: f64| y.iter().zip(&exact).all(|(a, b)| (a - b).abs() < bound);
            assert!(close(fast::<f64>(kernels, &parameters, &image), 1e-13));
            assert!(close(fast::<f32>(kernels, &parameters, &image), 1e-5));
        }
    }

    #[test]
    fn gradient_is_that_of_central_differences() {
        let (parameters, image, weights) = (wave(SHAPE.size(), 1), wave(9 * 9 * 2, 2), wave(7 * 7 * 32, 3));
        let value = |parameters: &[f64]| {
            plain(SHAPE, parameters, &image).iter().zip(&weights).map(|(y, w)| y * w).sum()
        };
        for kernels in Kernels::available() {
            let (mut sums, mut gradient) = (vec![0.0; SHAPE.weights()], vec![0.0; SHAPE.size()]);
            correlate(kernels, SHAPE, &image, &weights, &mut sums);
            SHAPE.unpack(&sums, &mut gradient, Into::Replace);
            for row in weights.chunks(32) {
                gradient[SHAPE.weights()..].iter_mut().zip(row).for_each(|(sum, w)| *sum += w);
            }
            agrees(value, &parameters, &gradient, 1e-5, 1e-8);
        }
    }
}
