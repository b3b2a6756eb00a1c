//! Which part of a parameter vector is which tensor.

/// The tensors of a model, one after another in one vector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    tensors: Vec<Tensor>,
    dimension: usize,
}

/// One tensor of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its name, as in the model's state: `fc1.weight`.
    pub name: String,
    /// Its shape, slowest axis first.
    pub shape: Vec<usize>,
    /// What it is.
    pub role: Role,
    /// Where it starts.
    pub offset: usize,
}

/// What a tensor is to an optimiser that treats matrices as operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A linear map; a convolution kernel is one of out × in·kh·kw.
    Matrix,
    /// Biases, gains, scalars.
    Vector,
    /// A table of vectors, looked up and not multiplied.
    Embedding,
}

impl Layout {
    /// No tensors.
    pub fn new() -> Layout {
        Layout::default()
    }

    /// One vector without structure.
    pub fn vector(name: &str, dimension: usize) -> Layout {
        Layout::new().with(name, &[dimension], Role::Vector)
    }

    /// And one more tensor.
    pub fn with(mut self, name: &str, shape: &[usize], role: Role) -> Layout {
        let tensor = Tensor { name: name.into(), shape: shape.to_vec(), role, offset: self.dimension };
        self.dimension += tensor.len();
        self.tensors.push(tensor);
        self
    }

    /// All tensors in order.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// Numbers in all.
    pub fn dimension(&self) -> usize {
        self.dimension
    }
}

impl Tensor {
    /// Its number of numbers.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where it lies in the parameter vector.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.len()
    }

    /// Rows and columns of a linear map; none for vectors and embeddings.
    pub fn matrix(&self) -> Option<(usize, usize)> {
        let rows = *self.shape.first()?;
        (self.role == Role::Matrix && self.shape.len() >= 2 && rows > 0).then(|| (rows, self.len() / rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_follow_one_another_and_kernels_are_matrices() {
        let layout = Layout::new()
            .with("conv.weight", &[32, 3, 5, 5], Role::Matrix)
            .with("conv.bias", &[32], Role::Vector)
            .with("tokens", &[65, 128], Role::Embedding);
        assert_eq!(layout.dimension(), 2400 + 32 + 65 * 128);
        let [kernel, bias, tokens] = layout.tensors() else { panic!("three tensors") };
        assert_eq!((kernel.matrix(), bias.matrix(), tokens.matrix()), (Some((32, 75)), None, None));
        assert_eq!((bias.range(), tokens.offset), (2400..2432, 2432));
    }
}
