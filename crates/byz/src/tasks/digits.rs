//! MNIST as the tasks use it: what to train on, what to tune on, what to judge on.
//!
//! Pixels are normalised, x = (p/255 − 0.1307)/0.3081. `validation` training images are held out: the last of a fixed
//! permutation, the same for every seed, so that runs of different seeds tune on the same images. The test images are taken in the
//! order of their labels; with `test` = 9984 the last 16 nines are left out, as the released code of Byz-NSGDM does.

use super::Split;
use crate::{
    data::{Directory, Mnist, Part, mnist},
    error::{Error, Result},
    kernels::prefetch,
    nn::{Smooth, vectorized},
    random::Stream,
    registry::{Arguments, Kind, Parameter},
};

/// Numbers per image.
pub(super) const PIXELS: usize = 784;
/// Digits.
pub(super) const CLASSES: usize = 10;

pub(super) const VALIDATION: Parameter = Parameter {
    name: "validation",
    default: "0",
    summary: "training images held out for tuning",
    kind: Kind::Count { least: 0 },
};
pub(super) const TEST: Parameter = Parameter {
    name: "test",
    default: "10000",
    summary: "test images judged on, in the order of their labels",
    kind: Kind::Count { least: 1 },
};

/// How many images are for what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    validation: usize,
    test: usize,
}

impl Sizes {
    pub(super) fn new(arguments: &Arguments) -> Sizes {
        let validation = arguments.count("validation").unwrap_or(0);
        Sizes { validation, test: arguments.count("test").unwrap_or(10_000) }
    }

    pub(super) fn read(self, directory: &Directory) -> Result<Digits> {
        self.split(mnist(directory, Part::Train)?, mnist(directory, Part::Test)?)
    }

    /// The same from images at hand.
    pub(super) fn split(self, train: Mnist, test: Mnist) -> Result<Digits> {
        let (trained, judged) = (train.labels.len(), test.labels.len());
        if self.validation >= trained || self.test > judged {
            return Err(Error::Usage(format!(
                "validation={} of {trained} training images and test={} of {judged} test images cannot be; leave at \
                 least one image to train on and ask for no more than there are",
                self.validation, self.test
            )));
        }
        let mut by_label: Vec<usize> = (0..judged).collect();
        by_label.sort_by_key(|&image| test.labels[image]);
        let test = take(&test, &by_label[..self.test]);
        if self.validation == 0 {
            return Ok(Digits { train, validation: Mnist::default(), test });
        }
        let order = Stream::new(0, "validation", 0, 0).permutation(trained);
        let (kept, held_out) = order.split_at(trained - self.validation);
        let mut kept = kept.to_vec();
        kept.sort_unstable();
        Ok(Digits { train: take(&train, &kept), validation: take(&train, held_out), test })
    }
}

fn take(from: &Mnist, images: &[usize]) -> Mnist {
    Mnist {
        images: images.iter().flat_map(|&image| pixels(from, image)).copied().collect(),
        labels: images.iter().map(|&image| from.labels[image]).collect(),
    }
}

fn pixels(from: &Mnist, image: usize) -> &[u8] {
    &from.images[image * PIXELS..(image + 1) * PIXELS]
}

/// Writes normalised images, one per row of `out`.
pub(super) fn normalise<T: Smooth>(from: &Mnist, images: impl Iterator<Item = usize> + Clone, out: &mut [T]) {
    // Batches take images from all over memory.
    const AHEAD: usize = 6;
    let mut ahead = images.clone().skip(AHEAD);
    images.clone().take(AHEAD).for_each(|image| prefetch(pixels(from, image)));
    for (image, row) in images.zip(out.chunks_exact_mut(PIXELS)) {
        if let Some(next) = ahead.next() {
            prefetch(pixels(from, next));
        }
        normalise_row(pixels(from, image), row);
    }
}

vectorized! {
    fn normalise_row = normalise_row_body(pixels: &[u8], out: &mut [T])
}

#[inline(always)]
fn normalise_row_body<T: Smooth, const FUSED: bool>(pixels: &[u8], out: &mut [T]) {
    const MEAN: f64 = 0.1307;
    const DEVIATION: f64 = 0.3081;
    let (factor, shift) = (T::from_f64(1.0 / (255.0 * DEVIATION)), T::from_f64(-MEAN / DEVIATION));
    out.iter_mut().zip(pixels).for_each(|(x, &pixel)| *x = T::from_u8(pixel) * factor + shift);
}

/// The images of one task.
#[derive(Debug)]
pub(super) struct Digits {
    pub(super) train: Mnist,
    validation: Mnist,
    test: Mnist,
}

impl Digits {
    /// What to judge on.
    pub(super) fn held_out(&self, split: Split) -> Result<&Mnist> {
        match split {
            Split::Test => Ok(&self.test),
            Split::Validation if self.validation.labels.is_empty() => Err(Error::Usage(
                "no images are held out for validation; set the task's validation=5000".into(),
            )),
            Split::Validation => Ok(&self.validation),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Made-up images: pixel and label are given by formulas.
    pub(in super::super) fn made_up(train: usize, test: usize, validation: usize) -> Digits {
        let images = |count: usize, phase: usize| Mnist {
            images: (0..count * PIXELS).map(|k| ((k * k / 7 + 13 * k + phase) % 256) as u8).collect(),
            labels: (0..count).map(|k| ((3 * k + k / 10 + phase) % CLASSES) as u8).collect(),
        };
        Sizes { validation, test }.split(images(train, 0), images(test + 4, 5)).expect("there are enough")
    }

    #[test]
    fn holds_out_without_overlap_and_drops_the_last_labels() {
        let (all, digits) = (made_up(50, 26, 0), made_up(50, 26, 8));
        assert_eq!((digits.train.labels.len(), digits.validation.labels.len()), (42, 8));
        assert_eq!(digits.test.labels.len(), 26);
        assert!(digits.test.labels.is_sorted());
        let mut parts: Vec<&[u8]> =
            [&digits.train, &digits.validation].iter().flat_map(|part| part.images.chunks(PIXELS)).collect();
        let mut whole: Vec<&[u8]> = all.train.images.chunks(PIXELS).collect();
        parts.sort_unstable();
        whole.sort_unstable();
        assert_eq!(parts, whole);
        assert!(all.held_out(Split::Validation).is_err());
        assert!(Sizes { validation: 50, test: 1 }.split(all.train, all.test).is_err());
    }

    #[test]
    fn normalises_pixels() {
        let from = Mnist { images: [vec![0; PIXELS], vec![255; PIXELS]].concat(), labels: vec![0, 1] };
        let mut out = vec![0.0f64; PIXELS];
        normalise(&from, [1].into_iter(), &mut out);
        assert!((out[5] - (1.0 - 0.1307) / 0.3081).abs() < 1e-14);
        normalise(&from, [0].into_iter(), &mut out);
        assert!((out[5] + 0.1307 / 0.3081).abs() < 1e-14);
    }
}
