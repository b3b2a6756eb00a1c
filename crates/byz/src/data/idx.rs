//! IDX, the format of MNIST: two zero bytes, 8 for unsigned bytes, the number of axes, each length as a big-endian
//! u32, then the bytes.

/// The shape and the bytes; else what is wrong. Nothing is allocated before the lengths agree with the bytes there are.
pub(super) fn parse(content: &[u8]) -> Result<(Vec<usize>, &[u8]), String> {
    let (magic, rest) = content.split_first_chunk().ok_or("it is too short for an IDX header")?;
    let &[0, 0, 8, axes] = magic else {
        return Err(format!("its magic number is {magic:02x?}, not that of an IDX file of bytes"));
    };
    let (header, data) =
        rest.split_at_checked(4 * usize::from(axes)).ok_or("it ends inside its IDX header")?;
    let lengths =
        header.chunks_exact(4).map(|bytes| bytes.iter().fold(0, |n, byte| n << 8 | usize::from(*byte)));
    let shape: Vec<usize> = lengths.collect();
    let product = shape.iter().try_fold(1usize, |product, length| product.checked_mul(*length));
    match product == Some(data.len()) {
        true => Ok((shape, data)),
        false => Err(format!("its header says {shape:?}, but {} bytes follow", data.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_the_shape_and_the_bytes() {
        let content = [0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6];
        assert_eq!(parse(&content).unwrap(), (vec![2, 3], &content[12..]));
    }

    #[test]
    fn hostile_headers_are_problems() {
        let huge = [&[0, 0, 8, 3][..], &[0xFF; 12], &[1, 2, 3]].concat();
        let many = [&[0, 0, 8, 255][..], &[0xFF; 1020]].concat();
        for (content, words) in [
            (&[][..], "too short"),
            (&[0, 0, 8], "too short"),
            (&[0, 0, 9, 1, 0, 0, 0, 0], "magic number"),
            (&[0x1F, 0x8B, 8, 1], "magic number"),
            (&[0, 0, 8, 3, 0, 0, 0, 1], "inside its IDX header"),
            (&[0, 0, 8, 1, 0, 0, 0, 5, 1, 2], "2 bytes follow"),
            (&[0, 0, 8, 1, 0, 0, 0, 1, 1, 2], "2 bytes follow"),
            (&huge, "3 bytes follow"),
            (&many, "0 bytes follow"),
        ] {
            let problem = parse(content).unwrap_err();
            assert!(problem.contains(words), "{problem}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(content in prop::collection::vec(any::<u8>(), 0..64), axes in 0u8..5) {
            let _ = parse(&content);
            let headed = [&[0, 0, 8, axes][..], &content].concat();
            if let Ok((shape, data)) = parse(&headed) {
                prop_assert_eq!(shape.iter().product::<usize>(), data.len());
            }
        }
    }
}
