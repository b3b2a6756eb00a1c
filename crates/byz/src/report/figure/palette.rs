//! Colours that people with any colour vision tell apart; dashes say the same once more, for print in grey.

/// Okabe and Ito's, without the yellow that vanishes on white.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#4d4d4d"];

const DASHES: [&str; 4] = ["", "6 3", "2 2.5", "9 3 2 3"];

/// The attributes of a line of a series; 28 differ.
pub(in crate::report) fn pen(index: usize, width: f64) -> String {
    let (class, colour) = ink(index);
    let dashes = match DASHES[index % DASHES.len()] {
        "" => String::new(),
        dashes => format!(" stroke-dasharray=\"{dashes}\""),
    };
    format!("class=\"c{class}\" stroke=\"{colour}\" stroke-width=\"{width}\" fill=\"none\"{dashes}")
}

/// The number of a series' colour, by which a page recolours it, and the colour.
pub(super) fn ink(index: usize) -> (usize, &'static str) {
    let class = index % COLOURS.len();
    (class, COLOURS[class])
}

/// Viridis, by six of its colours.
const HEAT: [[f64; 3]; 6] = [
    [68.0, 1.0, 84.0],
    [65.0, 68.0, 135.0],
    [42.0, 120.0, 142.0],
    [34.0, 168.0, 132.0],
    [122.0, 209.0, 81.0],
    [253.0, 231.0, 37.0],
];

/// The colour of a value in 0–1, and whether dark words are read best on it.
pub(super) fn heat(value: f64) -> (String, bool) {
    let place = value.clamp(0.0, 1.0) * (HEAT.len() - 1) as f64;
    let below = (place as usize).min(HEAT.len() - 2);
    let part = place - below as f64;
    let mix = |k: usize| HEAT[below][k] + part * (HEAT[below + 1][k] - HEAT[below][k]);
    let light = 0.299 * mix(0) + 0.587 * mix(1) + 0.114 * mix(2);
    let [r, g, b] = [mix(0), mix(1), mix(2)].map(|channel| channel.round() as u8);
    (format!("#{r:02x}{g:02x}{b:02x}"), light > 128.0)
}

/// Ten steps from nothing to the largest weight.
pub(super) const WEIGHTS: [&str; 10] = [
    "#f0f2f5", "#dbe7f3", "#c4daee", "#a5c8e4", "#7fb1d8", "#5b99ca", "#3c80b9", "#2468a4", "#13508a",
    "#083768",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_series_as_anyone_draws_look_different() {
        let pens: std::collections::BTreeSet<_> = (0..28).map(|index| pen(index, 1.0)).collect();
        assert_eq!(pens.len(), 28);
    }

    #[test]
    fn words_are_bright_on_dark_cells() {
        assert_eq!(heat(0.0), ("#440154".into(), false));
        assert_eq!(heat(1.0), ("#fde725".into(), true));
        assert_eq!(heat(f64::INFINITY).0, "#fde725");
    }
}
