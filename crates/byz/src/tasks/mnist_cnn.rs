//! The convolutional network that the released code of Byz-NSGDM trains on MNIST; 1,199,882 parameters.
//!
//!   conv 1→32 3×3, ReLU, conv 32→64 3×3, max-pool 2 (no ReLU before it), dropout ¼,
//!   linear 9216→128, ReLU, dropout ½, linear 128→10
//!
//! `dropout` = channel is PyTorch's Dropout2d: the first drops whole channels of a sample; the second, on activations without
//! height and width, drops each number, exactly as Dropout2d does on a matrix. `masks` = frozen draws the same masks for every worker in
//! every round, as the released code does on a GPU: sample k of any batch always meets the k-th mask. `start` = pytorch begins where
//! PyTorch's layers do after `torch.manual_seed`.

mod network;

use super::{
    AnyTask, Setting, Spec,
    classifier::Classifier,
    digits::{Sizes, TEST, VALIDATION},
};
use crate::{
    error::Result,
    registry::{Entry, Kind, Parameter, Properties},
};
pub(super) use network::{Convolutional, Masks, Unit};

pub(super) const ENTRY: Entry<dyn Spec> = Entry {
    name: "mnist_cnn",
    aliases: &["cnn"],
    summary: "two convolutions and two linear layers with dropout on MNIST; 1,199,882 parameters",
    parameters: &[
        Parameter {
            name: "dropout",
            default: "channel",
            summary: "what the first dropout drops: each number, or whole channels",
            kind: Kind::Choice(&["element", "channel"]),
        },
        Parameter {
            name: "masks",
            default: "fresh",
            summary: "dropout masks per worker and round, or the same ones always",
            kind: Kind::Choice(&["fresh", "frozen"]),
        },
        Parameter {
            name: "start",
            default: "own",
            summary: "the initial parameters: drawn by byz, or as PyTorch draws them from the same seed",
            kind: Kind::Choice(&["own", "pytorch"]),
        },
        VALIDATION,
        TEST,
    ],
    requirement: "",
    reference: "LeCun et al., Gradient-based learning applied to document recognition, 1998 (the data)",
    properties: Properties::NONE,
    build: |arguments| {
        let unit = if arguments.choice("dropout") == Some("element") { Unit::Element } else { Unit::Channel };
        let masks = if arguments.choice("masks") == Some("frozen") { Masks::Frozen } else { Masks::Fresh };
        let pytorch_start = arguments.choice("start") == Some("pytorch");
        Ok(Box::new(MnistCnn {
            network: Convolutional { unit, masks, pytorch_start },
            sizes: Sizes::new(arguments),
        }))
    },
};

struct MnistCnn {
    network: Convolutional,
    sizes: Sizes,
}

impl Spec for MnistCnn {
    fn open(&self, setting: &Setting<'_>) -> Result<AnyTask> {
        let digits = self.sizes.read(setting.data)?;
        Ok(AnyTask::F32(Box::new(Classifier::new(self.network, digits))))
    }
}
