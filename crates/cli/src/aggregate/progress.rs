//! A bar on standard error while much is read; nothing where nobody watches.

use super::Arguments;
use byz::files::{Inputs, Layout};
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    fs,
    io::{self, IsTerminal},
};

/// Bytes of input below which it is over before anyone looks.
const LARGE: u64 = 256 << 20;

/// Columns read so far, of as many as the passes are expected to read.
pub(super) struct Bar {
    bar: ProgressBar,
    dimension: u64,
}

impl Bar {
    pub(super) fn new(arguments: &Arguments, inputs: &Inputs) -> Bar {
        let dimension = inputs.layout().map_or(0, Layout::length) as u64;
        let size = |path| fs::metadata(path).map_or(0, |metadata| metadata.len());
        let large = arguments.inputs.iter().map(size).sum::<u64>() > LARGE;
        if !large || !io::stderr().is_terminal() {
            return Bar { bar: ProgressBar::hidden(), dimension };
        }
        // Measure and execute; distances when explained; a look before tensors are taken one by one. Rules that need
        // fewer passes end early, those that need more lengthen the bar.
        let explain = arguments.explain || arguments.json;
        let passes = 2 + u64::from(explain) + u64::from(arguments.per_tensor);
        let bar = ProgressBar::new(dimension * passes);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:40} {percent:>3}%  {elapsed} (about {eta} left)")
        {
            bar.set_style(style);
        }
        Bar { bar, dimension }
    }

    pub(super) fn advance(&self, columns: usize) {
        self.bar.inc(columns as u64);
        if self.bar.length().is_some_and(|length| self.bar.position() > length) {
            self.bar.inc_length(self.dimension);
        }
    }

    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
