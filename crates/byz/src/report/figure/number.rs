//! Numbers as people write them in figures.

/// Four digits, without trailing zeros; powers of ten where they are shorter.
pub(in crate::report) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value.is_finite() { "0".into() } else { "–".into() };
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-3..6).contains(&exponent) {
        let text = format!("{value:.3e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{power}", trimmed(digits));
    }
    trimmed(&format!("{value:.*}", (3 - exponent).max(0) as usize)).into()
}

fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// 10 to an integer power, as it is printed.
pub(super) fn power_of_ten(exponent: i32) -> String {
    let digits = exponent.to_string();
    let raised = digits.chars().map(|c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => char::from_u32('⁰' as u32 + c as u32 - '0' as u32).unwrap_or(c),
    });
    ['1', '0'].into_iter().chain(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [(0.02, "0.02"), (1234.56, "1235"), (6.70298e-6, "6.703e-6"), (98.5, "98.5"), (0.0, "0")];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        assert_eq!((short(3e6), short(-0.25), short(f64::NAN)), ("3e6".into(), "-0.25".into(), "–".into()));
    }

    #[test]
    fn exponents_are_raised() {
        assert_eq!(
            (power_of_ten(-6), power_of_ten(12), power_of_ten(0)),
            ("10⁻⁶".into(), "10¹²".into(), "10⁰".into())
        );
    }
}
