//! Linear maps y = x·Wᵀ + b for N tokens; biases that another pass can add on its way are left to it.

use super::shape::Linear;
use crate::nn::{
    Smooth,
    product::{Into, View, multiply},
};

impl Linear {
    /// `out` = `input`·Wᵀ.
    pub(super) fn forward<T: Smooth>(&self, parameters: &[T], input: &[T], out: &mut [T]) {
        self.apply(parameters, input, out, Into::Replace);
    }

    /// `out` = `input`·Wᵀ + b.
    pub(super) fn forward_with_bias<T: Smooth>(&self, parameters: &[T], input: &[T], out: &mut [T]) {
        let bias = &parameters[self.bias.clone()];
        out.chunks_exact_mut(self.outputs).for_each(|row| row.copy_from_slice(bias));
        self.apply(parameters, input, out, Into::Add);
    }

    fn apply<T: Smooth>(&self, parameters: &[T], input: &[T], out: &mut [T], into: Into) {
        let tokens = input.len() / self.inputs;
        multiply(
            T::ONE,
            View::new(input, tokens, self.inputs),
            self.weight(parameters).t(),
            out,
            self.outputs,
            into,
        );
    }

    fn weight<'a, T>(&self, parameters: &'a [T]) -> View<'a, T> {
        View::new(&parameters[self.weight.clone()], self.outputs, self.inputs)
    }

    /// `input_gradient` = `out_gradient`·W; adds `out_gradient`ᵀ·`input` to the weight's part of `gradient`.
    pub(super) fn backward<T: Smooth>(
        &self,
        parameters: &[T],
        input: &[T],
        out_gradient: &[T],
        input_gradient: &mut [T],
        gradient: &mut [T],
    ) {
        let tokens = input.len() / self.inputs;
        let rows = View::new(out_gradient, tokens, self.outputs);
        let input = View::new(input, tokens, self.inputs);
        multiply(T::ONE, rows.t(), input, &mut gradient[self.weight.clone()], self.inputs, Into::Add);
        multiply(T::ONE, rows, self.weight(parameters), input_gradient, self.inputs, Into::Replace);
    }

    /// Adds the rows of `out_gradient` to the bias's part of `gradient`.
    pub(super) fn bias_backward<T: Smooth>(&self, out_gradient: &[T], gradient: &mut [T]) {
        let bias = &mut gradient[self.bias.clone()];
        for row in out_gradient.chunks_exact(self.outputs) {
            bias.iter_mut().zip(row).for_each(|(bias, &row)| *bias += row);
        }
    }
}
