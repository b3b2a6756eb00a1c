//! Numbers that layers compute with: f32 for training, f64 for checking gradients.

use crate::kernels::Scalar;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// f32 or f64.
pub trait Real:
    Scalar
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// A byte, exactly.
    fn from_u8(value: u8) -> Self;
    /// eˣ.
    fn exp(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The larger.
    fn max(self, other: Self) -> Self;
}

macro_rules! real {
    ($scalar:ty) => {
        impl Real for $scalar {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)]
            fn from_u8(value: u8) -> Self {
                <$scalar>::from(value)
            }
            fn exp(self) -> Self {
                <$scalar>::exp(self)
            }
            fn ln(self) -> Self {
                <$scalar>::ln(self)
            }
            fn sqrt(self) -> Self {
                <$scalar>::sqrt(self)
            }
            fn tanh(self) -> Self {
                <$scalar>::tanh(self)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
        }
    };
}

real!(f32);
real!(f64);
