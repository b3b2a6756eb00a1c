//! What planning knows of the messages: squared distances between points, in f64.
//!
//! The points are the messages (or, after pre-aggregation, mixed rows) followed by the reference points that some
//! rule asked for. Distances between mixed rows follow from those between messages: for weights a that add up to
//! zero ‖Σ aₖxₖ‖² = −½ aᵀDa. Where that sum would cancel, the quantity is measured directly in an
//! extra pass over the data.

use crate::{
    matrix::{Matrix, distance_l1},
    measure::pairs,
};

/// The data behind a geometry, for what distances cannot tell. Every call is a pass over the data.
pub trait Source {
    /// Squared distances between combinations (rows) of the measured points (columns), directly.
    fn distances(&self, combinations: &Matrix) -> Matrix;
    /// Inner products of combinations of the measured points, directly.
    fn inner_products(&self, combinations: &Matrix) -> Matrix;
    /// Squared distances between the measured points on some coordinates.
    fn distances_on(&self, coordinates: &[usize]) -> Matrix;
    /// Number of coordinates.
    fn dimension(&self) -> usize;
    /// Relative error of a measured squared distance.
    fn resolution(&self) -> f64;
    /// Relative error that planning accepts.
    fn planning_error(&self) -> f64;
}

/// A point beside the messages that a rule may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The zero vector.
    Origin,
    /// The centre of centred clipping: the caller's vector, else the origin.
    Center,
}

/// Squared distances between the points of a round.
pub struct Geometry<'a> {
    squared: Matrix,
    messages: usize,
    references: Vec<Reference>,
    /// The points as combinations of the measured points; none while they are the measured points.
    mixing: Option<Matrix>,
    source: &'a dyn Source,
}

/// Distances 1e8 times as long as others leave f64 half of its digits.
const STRETCHED: f64 = 1e-16;

/// So many farthest messages are kept in order while looking; more are sorted.
const FEW: usize = 8;

impl<'a> Geometry<'a> {
    /// A geometry of `messages` measured rows followed by `references`.
    pub fn new(
        squared: Matrix,
        messages: usize,
        references: Vec<Reference>,
        source: &'a dyn Source,
    ) -> Geometry<'a> {
        Geometry { squared, messages, references, mixing: None, source }
    }

    /// A geometry of which only the number of messages is known, for rules that need no distances.
    pub fn unmeasured(messages: usize, source: &'a dyn Source) -> Geometry<'a> {
        Geometry::new(Matrix::zeros(0, 0), messages, Vec::new(), source)
    }

    /// Number of messages (or mixed rows); they are the points 0..messages.
    pub fn messages(&self) -> usize {
        self.messages
    }

    /// Messages and reference points together.
    pub fn points(&self) -> usize {
        self.messages + self.references.len()
    }

    /// The data behind.
    pub fn dimension(&self) -> usize {
        self.source.dimension()
    }

    /// Squared distance between two points.
    #[inline]
    pub fn squared(&self, i: usize, j: usize) -> f64 {
        self.squared[(i, j)]
    }

    /// Squared distances from a point to all.
    pub fn squared_row(&self, point: usize) -> &[f64] {
        self.squared.row(point)
    }

    /// Whether some points lie so much farther apart than others that a sum over all of them may lose the near ones.
    pub fn is_stretched(&self) -> bool {
        let [nearest, farthest] = self.squared.extremes();
        farthest * STRETCHED > nearest
    }

    /// The index of a reference point that was asked for in `requirements`.
    pub fn reference(&self, reference: Reference) -> usize {
        let position = self.references.iter().position(|known| *known == reference);
        self.messages + position.expect("a rule may only use the references it requires")
    }

    /// The `count` messages nearest to a point, itself included if it is a message, by (distance, index); distances that only rounding
    /// tells apart are equal.
    pub fn nearest(&self, point: usize, count: usize) -> Vec<usize> {
        let row = &self.squared.row(point)[..self.messages];
        let mut order = ranked_within(rounding(row), row);
        order.truncate(count);
        order
    }

    /// The `count` messages farthest from a point: all but those [`Geometry::nearest`] has, in no certain order.
    pub fn farthest(&self, point: usize, count: usize, farthest: &mut Vec<usize>) {
        let row = &self.squared.row(point)[..self.messages];
        farthest.clear();
        let rounding = rounding(row);
        let sorted = || ranked_within(rounding, row).split_off(self.messages - count.min(self.messages));
        if count > FEW {
            return farthest.extend(sorted());
        }
        // Keeping the few farthest so far, the nearest of them last, is quicker than sorting. Among equals the highest index
        // is the farthest, so a later one goes before.
        let (mut kept, mut full) = ([(0.0, 0); FEW], 0);
        for (message, &distance) in row.iter().enumerate() {
            if full < count {
                full += 1;
            } else if count == 0 || distance < kept[count - 1].0 {
                continue;
            }
            let mut place = full - 1;
            while place > 0 && kept[place - 1].0 <= distance {
                kept[place] = kept[place - 1];
                place -= 1;
            }
            kept[place] = (distance, message);
        }
        // Where the last that is kept and the first that is not are equal but for rounding, indices decide.
        let cut = kept[full.saturating_sub(1)].0 * (1.0 - rounding);
        if full > 0 && row.iter().filter(|&&distance| distance >= cut).count() > full {
            return farthest.extend(sorted());
        }
        farthest.extend(kept[..full].iter().map(|(_, message)| message));
    }

    /// The message whose `count` nearest messages reach least far: with count > tolerance it is at most
    /// one honest diameter from some honest message, whatever the others sent.
    pub fn central(&self, count: usize) -> usize {
        let mut row = Vec::with_capacity(self.messages);
        let reach = |i: usize| {
            row.clear();
            row.extend_from_slice(&self.squared.row(i)[..self.messages]);
            *row.select_nth_unstable_by(count.clamp(1, self.messages) - 1, f64::total_cmp).1
        };
        let reaches: Vec<f64> = (0..self.messages).map(reach).collect();
        lowest(&reaches)
    }

    /// Relative error of a measured squared distance.
    pub fn resolution(&self) -> f64 {
        self.source.resolution()
    }

    /// Whether distances tell the inner products about a point: no other is too far away.
    pub fn resolves(&self, center: usize) -> bool {
        let radius = self.squared.row(center);
        // Half of the messages are honest: the middle radius is one of theirs. Where more than half lie at the
        // centre, the first that does not.
        let mut messages = radius[..self.messages].to_vec();
        let (_, middle, above) = messages.select_nth_unstable_by(self.messages / 2, f64::total_cmp);
        let positive = above.iter().copied().chain([*middle]).filter(|&radius| radius > 0.0);
        let typical = positive.reduce(f64::min).unwrap_or(0.0).sqrt();
        let farthest = radius.iter().copied().fold(0.0, f64::max).sqrt();
        self.source.resolution() * farthest <= self.source.planning_error() * typical
    }

    /// Inner products ⟨xᵢ − x_c, xⱼ − x_c⟩ of all points about message c: from distances where they resolve it,
    /// measured directly where one point is too far away.
    pub fn inner_products_about(&self, center: usize) -> Matrix {
        let points = self.points();
        let radius = self.squared.row(center);
        if self.resolves(center) {
            let mut products = Vec::with_capacity(points * points);
            for i in 0..points {
                let terms = radius.iter().zip(self.squared.row(i));
                products.extend(terms.map(|(own, between)| 0.5 * (radius[i] + own - between)));
            }
            return Matrix::from_data(points, points, products);
        }
        let mut differences = self.mixing.clone().unwrap_or_else(|| Matrix::identity(points));
        let center = differences.row(center).to_vec();
        for i in 0..points {
            differences.row_mut(i).iter_mut().zip(&center).for_each(|(value, center)| *value -= center);
        }
        self.source.inner_products(&differences)
    }

    /// The geometry of mixed rows: each row of `mixing` combines the points of this one and adds up to one.
    pub fn mixed(&self, mixing: Matrix) -> Geometry<'a> {
        let messages = mixing.rows();
        let mut extended = mixing;
        for reference in 0..self.references.len() {
            // Reference points stay what they are.
            extended.push_unit_row(self.messages + reference);
        }
        let (distinct, class) = extended.distinct_rows();
        let between = self.derived_distances(&distinct).unwrap_or_else(|| match &self.mixing {
            Some(before) => self.source.distances(&distinct.times(before)),
            None => self.source.distances(&distinct),
        });
        let mut squared = Matrix::zeros(class.len(), class.len());
        for (i, &a) in class.iter().enumerate() {
            let from = between.row(a);
            squared.row_mut(i).iter_mut().zip(&class).for_each(|(to, &b)| *to = from[b]);
        }
        let composed = match &self.mixing {
            Some(before) => extended.times(before),
            None => extended,
        };
        Geometry {
            squared,
            messages,
            references: self.references.clone(),
            mixing: Some(composed),
            source: self.source,
        }
    }

    /// The distances between mixed rows, or none where some pair would cancel.
    fn derived_distances(&self, mixing: &Matrix) -> Option<Matrix> {
        let halfway = mixing.times(&self.squared);
        let (resolution, accepted) = (self.source.resolution(), self.source.planning_error());
        let [_, widest] = self.squared.extremes();
        let mut squared = Matrix::zeros(mixing.rows(), mixing.rows());
        let mut radius: Option<&[f64]> = None;
        // What `cancellation` adds up for rows that differ by `size`: no distance is wider, and a row's weights add up to one.
        let most = |size: f64| (2.0 * size * size * resolution + 16.0 * f64::EPSILON) * widest;
        let any = most(2.0);
        for (i, j) in pairs(mixing.rows()) {
            let value = half_form(mixing, &halfway, i, j);
            (squared[(i, j)], squared[(j, i)]) = (value, value);
            if any <= accepted * value || most(distance_l1(mixing.row(i), mixing.row(j))) <= accepted * value
            {
                continue;
            }
            let radius = radius.get_or_insert_with(|| self.squared.row(self.central(self.messages / 2 + 1)));
            if cancellation(mixing, &halfway, radius, resolution, i, j) > accepted * value {
                return None;
            }
        }
        Some(squared)
    }

    /// These points measured again in f64, in an extra pass; none where they are mixed rows or as good already.
    pub fn exactly(&self) -> Option<Geometry<'a>> {
        let rounded = self.source.resolution() > ROUNDING && self.mixing.is_none();
        rounded.then(|| Geometry {
            squared: self.source.distances(&Matrix::identity(self.points())),
            messages: self.messages,
            references: self.references.clone(),
            mixing: None,
            source: self.source,
        })
    }

    /// The same points seen on some coordinates only.
    pub fn on_coordinates(&self, coordinates: &[usize]) -> Geometry<'a> {
        let mut squared = self.source.distances_on(coordinates);
        if let Some(mixing) = &self.mixing {
            let halfway = mixing.times(&squared);
            squared = Matrix::zeros(mixing.rows(), mixing.rows());
            for (i, j) in pairs(mixing.rows()) {
                squared[(i, j)] = half_form(mixing, &halfway, i, j);
                squared[(j, i)] = squared[(i, j)];
            }
        }
        Geometry {
            squared,
            messages: self.messages,
            references: self.references.clone(),
            mixing: self.mixing.clone(),
            source: self.source,
        }
    }

    /// The points as combinations of the measured points, if they were mixed.
    pub(crate) fn mixing(&self) -> Option<&Matrix> {
        self.mixing.as_ref()
    }
}

/// −½ (a − b)ᵀD(a − b) for rows a, b of a mixing, given the mixing times D.
fn half_form(mixing: &Matrix, halfway: &Matrix, i: usize, j: usize) -> f64 {
    let (a, b, left, right) = (mixing.row(i), mixing.row(j), halfway.row(i), halfway.row(j));
    let mut form = [0.0; 4];
    // Four partial sums, or the processor waits for every addition.
    let whole = a.len() / 4 * 4;
    let fours = a.chunks_exact(4).zip(b.chunks_exact(4)).zip(left.chunks_exact(4).zip(right.chunks_exact(4)));
    for ((a, b), (left, right)) in fours {
        (0..4).for_each(|lane| form[lane] += (a[lane] - b[lane]) * (left[lane] - right[lane]));
    }
    (whole..a.len()).for_each(|k| form[k - whole] += (a[k] - b[k]) * (left[k] - right[k]));
    (-0.5 * form.iter().sum::<f64>()).max(0.0)
}

/// A bound on the error of `half_form`: that of the distances, at most resolution · 2 · Σ|aₖ| · Σ|aₖ|Dₖc for the
/// weights a = aᵢ − aⱼ and a central c, so a far message costs digits only where the two rows weigh it differently;
/// that of the arithmetic; and that of weights like 1 − c which have lost c.
fn cancellation(
    mixing: &Matrix,
    halfway: &Matrix,
    radius: &[f64],
    resolution: f64,
    i: usize,
    j: usize,
) -> f64 {
    let (mut size, mut reach, mut rounding) = (0.0, 0.0, 0.0);
    for (k, radius) in radius.iter().enumerate() {
        let (a, b) = (mixing[(i, k)], mixing[(j, k)]);
        let (left, right) = (halfway[(i, k)], halfway[(j, k)]);
        size += (a - b).abs();
        reach += (a - b).abs() * radius;
        rounding += (a - b).abs() * (left.abs() + right.abs()) + (a.abs() + b.abs()) * (left - right).abs();
    }
    2.0 * size * reach * resolution + f64::EPSILON * rounding
}

/// Index of the smallest value; the lowest index among equals.
pub fn lowest(values: &[f64]) -> usize {
    (0..values.len()).min_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0)
}

/// Scores no farther apart than this are equal: sums of the same distances in another order differ by their rounding.
const ROUNDING: f64 = 1e-12;

/// Distances of one point no farther apart than this, relative, are equal. From far out all look alike, and the last digits do tell
/// them apart.
fn rounding(row: &[f64]) -> f64 {
    let positive = row.iter().copied().filter(|&distance| distance > 0.0);
    let (least, most) = positive.fold((f64::INFINITY, 0.0f64), |(a, b), value| (a.min(value), b.max(value)));
    if least < most * (1.0 - 1e-9) { 16.0 * f64::EPSILON } else { 0.0 }
}

/// Indices in ascending order of score; the lowest index first among scores that only rounding tells apart.
///
/// Mixed rows often differ by one swap, and then so do their distances: exact ties are common there.
pub fn ranked(scores: &[f64]) -> Vec<usize> {
    ranked_within(ROUNDING, scores)
}

fn ranked_within(rounding: f64, scores: &[f64]) -> Vec<usize> {
    let mut order = ascending(scores);
    let mut first = 0;
    while first < order.len() {
        let limit = scores[order[first]] * (1.0 + rounding);
        let equals = order[first..].iter().take_while(|&&i| scores[i] <= limit).count().max(1);
        order[first..first + equals].sort_unstable();
        first += equals;
    }
    order
}

/// Whether no score is nearer to the last of the `count` lowest than their relative error, but for equal ones.
pub fn is_cut_clear(scores: &[f64], count: usize, error: f64) -> bool {
    let order = ranked(scores);
    if count == 0 || count >= order.len() {
        return true;
    }
    let undecided = |edge: f64, score: f64| {
        let (apart, size) = ((edge - score).abs(), edge.max(score));
        apart > ROUNDING * size && apart <= 2.0 * error * size
    };
    order[count - 1..=count].iter().all(|&edge| !scores.iter().any(|&score| undecided(scores[edge], score)))
}

/// Indices in ascending order of value; the lowest index first among equals.
pub fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_are_ranked_by_index_and_close_ones_leave_a_cut_undecided() {
        assert_eq!(ranked(&[2.0 + 1e-15, 1.0 + 1e-13, 2.0, 1.0]), [1, 3, 0, 2]);
        assert_eq!(ranked(&[1.0 + 1e-9, 1.0, 0.0]), [2, 1, 0]);
        let scores = [1.0, 1.0 + 1e-9, 1.0, 3.0];
        // The first may be as low as the two that are equal, or not; the last is no rival.
        assert!(!is_cut_clear(&scores, 1, 1e-8) && !is_cut_clear(&scores, 2, 1e-8));
        assert!(is_cut_clear(&scores, 1, 1e-10) && is_cut_clear(&scores, 4, 1e-8));
        assert!(is_cut_clear(&[1.0, 1.0, 2.0, 3.0], 1, 1e-8) && is_cut_clear(&scores, 0, 1e-8));
    }
}
