//! Ed25519 keys, written as NATS writes them (`U…`, seeds `SU…`): short, with a checksum against slips.
//!
//! A key that signs frames is never the one that proves an identity to the broker: the broker chooses what the latter signs,
//! and could choose a frame.

use byz::Error;
use nkeys::{KeyPair, KeyPairType};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a participant signs its frames with.
pub struct SigningKey(KeyPair);

/// What others check them with.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey(KeyPair);

impl SigningKey {
    /// A new one.
    pub fn random() -> SigningKey {
        SigningKey(KeyPair::new_user())
    }

    /// Reads a seed.
    pub fn read(seed: &str) -> Result<SigningKey, Error> {
        // The library's message may repeat the seed.
        let key = KeyPair::from_seed(seed.trim()).ok().filter(is_user);
        key.map(SigningKey)
            .ok_or_else(|| Error::Usage("a seed is damaged; expected SU and 56 more letters".into()))
    }

    /// The seed: a secret.
    pub fn seed(&self) -> String {
        self.0.seed().expect("a key pair has its seed")
    }

    /// What others need.
    pub fn public(&self) -> PublicKey {
        let public = KeyPair::from_public_key(&self.0.public_key());
        PublicKey(public.expect("a public key reads back"))
    }

    /// The signature of these bytes.
    pub fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        let signature = self.0.sign(bytes).expect("a key pair with a seed signs");
        signature.try_into().expect("an Ed25519 signature has 64 bytes")
    }
}

impl PublicKey {
    /// Whether this key signed these bytes so.
    pub fn verifies(&self, bytes: &[u8], signature: &[u8]) -> bool {
        self.0.verify(bytes, signature).is_ok()
    }
}

fn is_user(key: &KeyPair) -> bool {
    matches!(key.key_pair_type(), KeyPairType::User)
}

impl TryFrom<String> for PublicKey {
    type Error = String;

    fn try_from(text: String) -> Result<PublicKey, String> {
        let key = KeyPair::from_public_key(text.trim()).ok().filter(is_user);
        // What was put there may be a secret, so it is not repeated.
        key.map(PublicKey).ok_or_else(|| "a public key is damaged; expected U and 55 more letters".into())
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> String {
        key.0.public_key()
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &PublicKey) -> bool {
        self.0.public_key() == other.0.public_key()
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.public_key())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_survive_being_written_down_and_slips_are_noticed() {
        let key = SigningKey::random();
        let again = SigningKey::read(&key.seed()).expect("its own seed");
        assert_eq!(again.public(), key.public());
        let text = String::from(key.public());
        let swapped = text.replacen(&text[5..6], if &text[5..6] == "A" { "B" } else { "A" }, 1);
        assert!(PublicKey::try_from(swapped).is_err());
        assert!(SigningKey::read(&text).is_err());
        assert!(!format!("{key:?}").contains(&key.seed()));
    }
}
