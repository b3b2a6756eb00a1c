//! SVG as text: elements, escaped words, coordinates to a tenth of a pixel.
//!
//! Colours are attributes and every coloured element has a class, so that a figure looks right alone, on white, and a page
//! may still recolour it: a style sheet wins over an attribute.

use std::fmt::{Display, Write};

/// Text as it may stand in an element or a quoted attribute; control characters, which XML forbids, become spaces.
pub(in crate::report) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push(' '),
            c if c.is_control() && c != '\n' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A coordinate.
pub(super) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    let short = text.strip_suffix(".0").unwrap_or(&text);
    if short == "-0" { "0".into() } else { short.into() }
}

/// How wide a text of this size is, if anything too wide: most letters of the fonts in use are narrower.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.62
}

/// The text, or its beginning if it is wider than there is room.
pub(super) fn fitting(text: &str, size: f64, room: f64) -> String {
    // Room that was made for just this text is enough.
    let most = (room / (size * 0.62) + 1e-6).max(2.0) as usize;
    if text.chars().count() <= most {
        return text.to_string();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// How words look.
#[derive(Clone, Copy)]
pub(super) struct Font {
    size: f64,
    anchor: &'static str,
    class: &'static str,
    bold: bool,
    turned: bool,
}

impl Font {
    pub(super) const fn of(size: f64) -> Font {
        Font { size, anchor: "start", class: "ink", bold: false, turned: false }
    }

    pub(super) const fn middle(self) -> Font {
        Font { anchor: "middle", ..self }
    }

    pub(super) const fn end(self) -> Font {
        Font { anchor: "end", ..self }
    }

    pub(super) const fn class(self, class: &'static str) -> Font {
        Font { class, ..self }
    }

    pub(super) const fn bold(self) -> Font {
        Font { bold: true, ..self }
    }

    /// Read from below.
    pub(super) const fn turned(self) -> Font {
        Font { turned: true, ..self }
    }

    fn colour(self) -> &'static str {
        match self.class {
            "soft" => "#5b6770",
            "byzantine" => "#b23c00",
            "bright" => "#ffffff",
            "dark" => "#111111",
            _ => "#1f2933",
        }
    }
}

/// A drawing under way.
pub(super) struct Svg {
    out: String,
    size: (f64, f64),
}

impl Svg {
    /// An empty sheet; `title` is what a screen reader says.
    pub(super) fn new(width: f64, height: f64, title: &str) -> Svg {
        let (w, h, title) = (px(width), px(height), escape(title));
        let out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
             aria-label=\"{title}\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n\
             <rect class=\"paper\" width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n"
        );
        Svg { out, size: (width, height) }
    }

    pub(super) fn width(&self) -> f64 {
        self.size.0
    }

    /// An element that is complete as it is.
    pub(super) fn element(&mut self, element: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{element}");
    }

    /// Whatever `draw` adds, in a group.
    pub(super) fn group(&mut self, attributes: impl Display, draw: impl FnOnce(&mut Svg)) {
        self.element(format_args!("<g {attributes}>"));
        draw(self);
        self.element("</g>");
    }

    pub(super) fn text(&mut self, x: f64, y: f64, font: Font, text: &str) {
        let Font { size, anchor, class, bold, turned } = font;
        let weight = if bold { " font-weight=\"bold\"" } else { "" };
        let (x, y) = (px(x), px(y));
        let turn = if turned { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
        self.element(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" \
             fill=\"{}\"{weight}{turn}>{}</text>",
            font.colour(),
            escape(text)
        ));
    }

    /// A line of a frame or a grid.
    pub(super) fn rule(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let colour = if class == "grid" { "#e4e7eb" } else { "#7b8794" };
        self.element(format_args!(
            "<path class=\"{class}\" d=\"M{} {}L{} {}\" stroke=\"{colour}\" fill=\"none\"/>",
            px(from.0),
            px(from.1),
            px(to.0),
            px(to.1)
        ));
    }

    pub(super) fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_leave_its_place() {
        assert_eq!(escape("<script>\"a\" & 'b'\u{7}"), "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39; ");
        let mut svg = Svg::new(10.0, 10.0, "\"><script>");
        svg.text(1.0, 2.0, Font::of(11.0).turned(), "</text><b>");
        let text = svg.finish();
        assert!(!text.contains("<script>") && !text.contains("<b>"), "{text}");
    }

    #[test]
    fn coordinates_are_short_and_long_words_are_cut() {
        assert_eq!((px(1.0), px(2.25), px(-0.01)), ("1".into(), "2.2".into(), "0".into()));
        assert_eq!(fitting("krum", 10.0, 100.0), "krum");
        assert_eq!(fitting("geometric_median", 10.0, 62.0), "geometric…");
    }
}
