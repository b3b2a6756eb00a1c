//! Trains a function of two parameters that byz does not know, while three of ten workers lie.
//!
//! cargo run --release -p byz --example own_task
//!
//! Ends near the minimum of Rosenbrock's function, (1, 1).

use byz::{
    Engine, Layout, Result, RowsMut, Stream,
    experiment::{Draft, trainer},
    tasks::{Batch, Metrics, Objective, Split, Task},
};

/// f(x, y) = (1 − x)² + 5 (y − x²)², with a little noise on every gradient.
struct Rosenbrock {
    layout: Layout,
}

impl Task for Rosenbrock {
    type Scalar = f64;

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial_parameters(&self, _seed: u64) -> Vec<f64> {
        vec![-1.0, 1.0]
    }

    fn objective(&self) -> Objective {
        Objective { metric: "distance", higher_is_better: false }
    }

    fn gradients(
        &self,
        parameters: &[f64],
        batches: &[Batch<'_>],
        mut out: RowsMut<'_, f64>,
        _threads: usize,
    ) -> Result<Vec<f64>> {
        let (x, y) = (parameters[0], parameters[1]);
        for (batch, gradient) in batches.iter().zip(out.iter_mut()) {
            // Noise by (seed, purpose, worker, round): the same in every run and after every resume.
            let mut noise = Stream::new(batch.seed, "noise", batch.worker as u64, batch.round);
            gradient[0] = -2.0 * (1.0 - x) - 20.0 * x * (y - x * x) + 0.1 * noise.normal();
            gradient[1] = 10.0 * (y - x * x) + 0.1 * noise.normal();
        }
        let loss = self.evaluate(parameters, Split::Test, 1)?.loss;
        Ok(vec![loss; batches.len()])
    }

    fn evaluate(&self, parameters: &[f64], _split: Split, _threads: usize) -> Result<Metrics> {
        let (x, y) = (parameters[0], parameters[1]);
        Ok(Metrics {
            loss: (1.0 - x).powi(2) + 5.0 * (y - x * x).powi(2),
            metric: (x - 1.0).hypot(y - 1.0),
            gradient_norm: None,
            per_class: None,
        })
    }
}

fn main() -> Result<()> {
    let config = Draft {
        task: Some("rosenbrock".into()),
        workers: Some(10),
        byzantine: Some(3),
        attack: Some("little_is_enough(z=1.5,sign=minus)".into()),
        defense: Some("nnm+geometric_median".into()),
        rate: Some(0.3),
        rounds: Some(5000),
        ..Draft::default()
    }
    .resolve_own()?;
    let task = Rosenbrock { layout: Layout::vector("xy", 2) };
    let mut trainer = trainer(&config, Box::new(task))?;
    for _ in 0..config.rounds {
        let report = trainer.round(Engine::default(), false)?;
        if report.round.is_multiple_of(1000) {
            println!("round {}: loss {:.2e}, at {:.4?}", report.round, report.loss, trainer.parameters);
        }
    }
    Ok(())
}
