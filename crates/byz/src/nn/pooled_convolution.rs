//! A convolution followed by max-pooling over 2 × 2 windows.
//!
//!   z[o, r, c] = max of y[2r..2r+2, 2c..2c+2, o],   y = conv(x);   the first of equal values wins.
//!
//! Only the winner of a window carries gradient, so a quarter of y matters on the way back, less after dropout. Each winner adds
//! ∂z · patch to the weights of its channel and ∂z · weights to its patch of ∂x, runs of 3·inputs numbers
//! in registers: a quarter of the dense products' arithmetic. y itself lives for two rows only.
//! z has its channels apart (channel, height, width), as the linear layer behind it expects.

use super::{Convolution, Real, linear::total, product::Into};
use crate::kernels::{Kernels, Lanes, Scalar, dispatch};

/// A convolution with max-pool behind it; its parameters are the convolution's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PooledConvolution {
    /// The convolution: its inputs are a multiple of eight, its width is even and at most 64.
    pub convolution: Convolution,
}

/// Windows per row at most.
const WINDOWS: usize = 32;

impl PooledConvolution {
    /// Height and width of z.
    pub fn width(self) -> usize {
        self.convolution.width() / 2
    }

    /// Numbers in z.
    pub fn outputs(self) -> usize {
        self.width() * self.width() * self.convolution.outputs
    }

    /// Numbers of y that live at a time: `band` must have as many.
    pub fn band(self) -> usize {
        2 * self.convolution.width() * self.convolution.outputs
    }

    /// Writes z for one image, and for each window which of its four pixels won.
    pub fn forward<T: Real>(
        self,
        packed: &[T],
        bias: &[T],
        image: &[T],
        band: &mut [T],
        z: &mut [T],
        winners: &mut [u8],
    ) {
        let (width, channels) = (self.width(), self.convolution.outputs);
        for row in 0..width {
            self.convolution.forward(packed, bias, image, 2 * row..2 * row + 2, band);
            let (upper, lower) = band.split_at(2 * width * channels);
            let windows = upper.chunks_exact(2 * channels).zip(lower.chunks_exact(2 * channels));
            for (column, (upper, lower)) in windows.enumerate() {
                pool(upper, lower, row * width + column, width * width, z, winners);
            }
        }
    }

    /// Weights in the order that `backward` reads: output, kernel row, column, input.
    pub fn turn<T: Real>(self, parameters: &[T], turned: &mut [T]) {
        let inputs = self.convolution.inputs;
        let both = parameters.chunks_exact(9 * inputs).zip(turned.chunks_exact_mut(9 * inputs));
        for (weight, turned) in both {
            for (k, turned) in turned.iter_mut().enumerate() {
                *turned = weight[k % inputs * 9 + k / inputs];
            }
        }
    }

    /// Adds one image's part of ∂W to `sums`, which is turned, and writes its ∂x.
    pub fn backward<T: Real>(
        self,
        turned: &[T],
        image: &[T],
        dz: &[T],
        winners: &[u8],
        sums: &mut [T],
        dx: &mut [T],
    ) {
        dx.fill(T::ZERO);
        scatter(Kernels::detect(), self, turned, image, (dz, winners), sums, dx);
    }

    /// Adds one image's part of ∂b.
    pub fn backward_bias<T: Real>(self, dz: &[T], bias: &mut [T]) {
        for (bias, dz) in bias.iter_mut().zip(dz.chunks_exact(self.width() * self.width())) {
            *bias += total(dz);
        }
    }

    /// Turned sums in the order of the parameters.
    pub fn turn_back<T: Real>(self, sums: &[T], gradient: &mut [T], into: Into) {
        let inputs = self.convolution.inputs;
        let both = sums.chunks_exact(9 * inputs).zip(gradient.chunks_exact_mut(9 * inputs));
        for (sums, gradient) in both {
            for (k, gradient) in gradient.iter_mut().enumerate() {
                let sum = sums[k % 9 * inputs + k / 9];
                *gradient = if into == Into::Add { *gradient + sum } else { sum };
            }
        }
    }
}

/// One window of all channels: two pixels of the upper row and two of the lower.
fn pool<T: Real>(upper: &[T], lower: &[T], at: usize, stride: usize, z: &mut [T], winners: &mut [u8]) {
    let channels = upper.len() / 2;
    let (a, b) = upper.split_at(channels);
    let (c, d) = lower.split_at(channels);
    for channel in 0..channels {
        let (mut best, mut winner) = (a[channel], 0);
        for (other, index) in [(b[channel], 1), (c[channel], 2), (d[channel], 3)] {
            // NaN wins, and stays.
            #[expect(clippy::eq_op, reason = "only NaN differs from itself")]
            let wins = other > best || other != other;
            (best, winner) = if wins { (other, index) } else { (best, winner) };
        }
        z[channel * stride + at] = best;
        winners[channel * stride + at] = winner;
    }
}

dispatch! { narrow
    /// The backward pass of one image; `won` is ∂z and where it goes.
    scatter => scatter_lanes(
        shape: PooledConvolution, turned: &[T], image: &[T], won: (&[T], &[u8]), sums: &mut [T], dx: &mut [T],
    )
}

/// By rows of windows, so that the four image rows under them stay in the first cache.
#[inline(always)]
fn scatter_lanes<L: Lanes>(
    shape: PooledConvolution,
    turned: &[L::Scalar],
    image: &[L::Scalar],
    (dz, winners): (&[L::Scalar], &[u8]),
    sums: &mut [L::Scalar],
    dx: &mut [L::Scalar],
) {
    let Convolution { inputs, outputs, side } = shape.convolution;
    let (width, run) = (shape.width(), 3 * inputs);
    assert!(side.is_multiple_of(2) && width <= WINDOWS && inputs.is_multiple_of(8));
    assert!(turned.len() == 3 * run * outputs && sums.len() == turned.len());
    assert!(image.len() == side * side * inputs && dx.len() == image.len());
    assert!(dz.len() == shape.outputs() && winners.len() == dz.len());
    let mut list = [(0, L::Scalar::default()); WINDOWS];
    for row in 0..width {
        for output in 0..outputs {
            let at = (output * width + row) * width;
            let mut count = 0;
            for (column, (&d, &winner)) in dz[at..at + width].iter().zip(&winners[at..at + width]).enumerate()
            {
                let winner = usize::from(winner & 3);
                let pixel = (2 * row + winner / 2) * side + 2 * column + winner % 2;
                list[count] = (pixel * inputs, d);
                // What dropout removed is not worth a branch.
                count += usize::from(d != L::Scalar::default());
            }
            if count == 0 {
                continue;
            }
            for i in 0..3 {
                let at = (output * 3 + i) * run;
                let below = i * side * inputs;
                let (weight, sum) = (&turned[at..at + run], &mut sums[at..at + run]);
                let mut k = 0;
                while k < run {
                    // SAFETY: a winner lies in y, so that its run in image row i below it lies in x; k + the vectors
                    // taken does not pass the run's end, which is a multiple of three vectors.
                    unsafe {
                        if k + 12 * L::WIDTH <= run {
                            spread::<L, 12>(
                                &list[..count],
                                below + k,
                                &weight[k..],
                                image,
                                &mut sum[k..],
                                dx,
                            );
                            k += 12 * L::WIDTH;
                        } else {
                            spread::<L, 3>(&list[..count], below + k, &weight[k..], image, &mut sum[k..], dx);
                            k += 3 * L::WIDTH;
                        }
                    }
                }
            }
        }
    }
}

/// For all winners: sum += ∂z · x and ∂x += ∂z · weight on `V` vectors of a run.
///
/// # Safety
/// `V · WIDTH` numbers must lie in `weight` and `sum`, and from each winner's offset plus `offset` on in `x` and `dx`.
#[inline(always)]
unsafe fn spread<L: Lanes, const V: usize>(
    winners: &[(usize, L::Scalar)],
    offset: usize,
    weight: &[L::Scalar],
    x: &[L::Scalar],
    sum: &mut [L::Scalar],
    dx: &mut [L::Scalar],
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut total: [L; V] = std::array::from_fn(|v| L::load(sum.as_ptr().add(v * L::WIDTH)));
        for &(at, d) in winners {
            let (x, d) = (x.as_ptr().add(at + offset), L::splat(d));
            for v in 0..V {
                total[v] = L::load(x.add(v * L::WIDTH)).mul_add(d, total[v]);
            }
        }
        for v in 0..V {
            total[v].store(sum.as_mut_ptr().add(v * L::WIDTH));
        }
        let weight: [L; V] = std::array::from_fn(|v| L::load(weight.as_ptr().add(v * L::WIDTH)));
        for &(at, d) in winners {
            let (dx, d) = (dx.as_mut_ptr().add(at + offset), L::splat(d));
            for v in 0..V {
                let to = dx.add(v * L::WIDTH);
                weight[v].mul_add(d, L::load(to)).store(to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::differences::{agrees, wave};

    const SHAPE: PooledConvolution =
        PooledConvolution { convolution: Convolution { inputs: 8, outputs: 32, side: 8 } };

    fn forward(parameters: &[f64], image: &[f64]) -> (Vec<f64>, Vec<u8>) {
        let weights = SHAPE.convolution.weights();
        let (mut packed, mut band) = (vec![0.0; weights], vec![0.0; SHAPE.band()]);
        SHAPE.convolution.pack(parameters, &mut packed);
        let (mut z, mut winners) = (vec![0.0; SHAPE.outputs()], vec![0; SHAPE.outputs()]);
        SHAPE.forward(&packed, &parameters[weights..], image, &mut band, &mut z, &mut winners);
        (z, winners)
    }

    #[test]
    fn the_first_of_equal_values_wins_and_nan_wins_over_all() {
        let (mut z, mut winners) = ([0.0; 4], [9; 4]);
        let upper = [1.0, 5.0, 2.0, 3.0, 1.0, 4.0, 2.0, f64::NAN];
        let lower = [0.0, 6.0, 2.0, 9.0, 1.0, 6.0, 2.0, 9.0];
        pool(&upper, &lower, 0, 1, &mut z, &mut winners);
        assert_eq!((&z[..3], winners), (&[1.0, 6.0, 2.0][..], [0, 2, 0, 1]));
        assert!(z[3].is_nan());
    }

    #[test]
    fn gradients_are_those_of_central_differences() {
        let (parameters, image) = (wave(SHAPE.convolution.size(), 1), wave(8 * 8 * 8, 2));
        let mut weights = wave(SHAPE.outputs(), 3);
        // As dropout would.
        weights.iter_mut().step_by(3).for_each(|w| *w = 0.0);
        let value = |parameters: &[f64], image: &[f64]| {
            forward(parameters, image).0.iter().zip(&weights).map(|(z, w)| z * w).sum::<f64>()
        };
        let (_, winners) = forward(&parameters, &image);
        let count = SHAPE.convolution.weights();
        let mut turned = vec![0.0; count];
        SHAPE.turn(&parameters[..count], &mut turned);
        for kernels in Kernels::available() {
            let (mut sums, mut dx) = (vec![0.0; count], vec![0.0; image.len()]);
            scatter(kernels, SHAPE, &turned, &image, (&weights, &winners), &mut sums, &mut dx);
            let mut gradient = vec![0.0; count];
            SHAPE.turn_back(&sums, &mut gradient, Into::Replace);
            let with_bias = |weight: &[f64]| [weight, &parameters[count..]].concat();
            agrees(|weight| value(&with_bias(weight), &image), &parameters[..count], &gradient, 1e-5, 1e-8);
            agrees(|image| value(&parameters, image), &image, &dx, 1e-5, 1e-8);
        }
    }
}
