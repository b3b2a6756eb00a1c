//! MNIST: 60,000 and 10,000 images of handwritten digits, 28 × 28 bytes each.
//!
//! Reference: LeCun, Bottou, Bengio, Haffner: "Gradient-based learning applied to document recognition", 1998.

use super::{Directory, File, idx, manifest};
use crate::error::{Error, Result};

/// Images and their digits.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Mnist {
    /// 784 bytes per image, row after row; 0 is paper, 255 is ink.
    pub images: Vec<u8>,
    /// The digit of each image.
    pub labels: Vec<u8>,
}

/// Which images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// 60,000.
    Train,
    /// 10,000.
    Test,
}

/// Reads one part.
pub fn mnist(directory: &Directory, part: Part) -> Result<Mnist> {
    let (images, labels) = match part {
        Part::Train => (&manifest::TRAIN_IMAGES, &manifest::TRAIN_LABELS),
        Part::Test => (&manifest::TEST_IMAGES, &manifest::TEST_LABELS),
    };
    let mnist = Mnist { images: read(directory, images, &[28, 28])?, labels: read(directory, labels, &[])? };
    match mnist.images.len() == 784 * mnist.labels.len() && mnist.labels.iter().all(|label| *label < 10) {
        true => Ok(mnist),
        false => Err(Error::Internal("the checksums of MNIST name files that do not belong together".into())),
    }
}

fn read(directory: &Directory, file: &File, each: &[usize]) -> Result<Vec<u8>> {
    let (path, content) = directory.read(file)?;
    let (shape, data) = idx::parse(&content).map_err(|problem| Error::file(&path, problem))?;
    match shape.split_first() {
        Some((_, rest)) if rest == each => Ok(data.to_vec()),
        _ => Err(Error::file(&path, format_args!("its shape is {shape:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn reads_both_parts_where_the_data_is() {
        let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
        if !shared.is_dir() {
            return;
        }
        let directory = Directory::at(shared);
        let test = mnist(&directory, Part::Test).unwrap();
        assert_eq!((test.images.len(), test.labels.len()), (10_000 * 784, 10_000));
        assert_eq!(test.labels[..5], [7, 2, 1, 0, 4]);
        let train = mnist(&directory, Part::Train).unwrap();
        let class = |digit: u8| train.labels.iter().filter(|label| **label == digit).count();
        assert_eq!((class(0), class(1), class(9)), (5923, 6742, 5949));
        let mean = train.images.iter().map(|byte| f64::from(*byte)).sum::<f64>() / train.images.len() as f64;
        assert!((mean / 255.0 - 0.1307).abs() < 1e-4);
    }
}
