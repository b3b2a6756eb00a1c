//! A pipeline stopped before its rule: what pre-aggregation alone makes of the messages.
//!
//! An aggregation never holds these rows; this is for those who look at them or hand them to a rule of their own.

use super::{Defense, Options, Round};
use crate::{
    error::Result,
    execute::execute,
    kernels::Scalar,
    matrix::Matrix,
    measure::Points,
    messages::{Messages, Rows},
    plan::Plan,
    verdict::Verdict,
};

/// What reaches the rule of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct MixedMessages<T> {
    /// The rows: as many as valid messages, or buckets.
    pub rows: Vec<Vec<T>>,
    /// What became of each worker's message.
    pub verdicts: Vec<Verdict>,
}

impl Defense {
    /// The rows that reach the rule.
    ///
    /// ```
    /// let rows = [vec![0.0], vec![1.0], vec![100.0]];
    /// let defense = byz::Defense::new("nnm+mean", 1)?;
    /// let mixed = defense.mixed_rows(&byz::Messages::from_rows(&rows), &byz::Options::default())?;
    /// assert_eq!(mixed.rows, [[0.5], [0.5], [50.5]]);
    /// # Ok::<(), byz::Error>(())
    /// ```
    pub fn mixed_rows<T: Scalar>(
        &self,
        messages: &Messages<'_, T>,
        options: &Options<'_, T>,
    ) -> Result<MixedMessages<T>> {
        let attempt = |rows: &Rows<'_, T>, workers: &[usize], tolerance| {
            let (references, vectors) = self.references(options.center);
            let points = Points::new(rows, vectors, options.engine);
            let Some(measured) = self.measure(&points, references) else { return Ok(None) };
            let mut round = Round { tolerance, number: options.round, workers: Some(workers) };
            let mixed = self.mix(&measured, &mut round)?;
            let identity = Matrix::identity(measured.points());
            let geometry = mixed.as_ref().unwrap_or(&measured);
            let mixing = geometry.mixing().unwrap_or(&identity);
            let combine = |row| {
                let weights = mixing.row(row).to_vec();
                execute(&points, &Plan::Combine { weights, stretched: measured.is_stretched() })
            };
            Ok((0..geometry.messages()).map(combine).collect())
        };
        let (rows, admitted) = self.admitted(messages, options, attempt)?;
        Ok(MixedMessages { rows, verdicts: admitted.verdicts })
    }
}
