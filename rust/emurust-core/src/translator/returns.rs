//! Where returns lead: after the calls of the routine that they end.

use std::collections::{BTreeSet, HashMap};

use super::plan::{Block, Instruction, Place, Plan};

/// Places that a return tries itself before it searches among all blocks.
const MAX_TRIED: usize = 8;
/// Blocks of a routine that are followed from its beginning.
const MAX_FOLLOWED: usize = 64;

/// For each return the places where it probably leads, most frequent first.
pub(super) fn returns(plan: &Plan) -> HashMap<Place, Vec<Place>> {
    let blocks: HashMap<Place, &Block> = plan.blocks.iter().map(|b| (b.place, b)).collect();
    let mut callers: HashMap<Place, BTreeSet<Place>> = HashMap::new();
    for block in &plan.blocks {
        for instruction in block.instructions.iter().filter(|i| i.is_call()) {
            let Some(target) = instruction.target() else {
                continue;
            };
            // Which bank a call from below 4000 reaches is not known.
            let is_known = block.place.pc() >= 0x4000 || target < 0x4000;
            let after = block.place.at(instruction.next_pc());
            if is_known && blocks.contains_key(&after) {
                let target = block.place.at(target);
                callers.entry(target).or_default().insert(after);
            }
        }
    }
    let mut found: HashMap<Place, BTreeSet<Place>> = HashMap::new();
    for (&routine, after) in &callers {
        for place in ends(routine, &blocks) {
            found.entry(place).or_default().extend(after);
        }
    }
    let heat = |place: &Place| blocks.get(place).map_or(0, |block| block.heat);
    let by_heat = |places: BTreeSet<Place>| {
        let mut places: Vec<Place> = places.into_iter().collect();
        places.sort_by_key(|place| (std::cmp::Reverse(heat(place)), *place));
        places.truncate(MAX_TRIED);
        places
    };
    found
        .into_iter()
        .map(|(place, places)| (place, by_heat(places)))
        .collect()
}

/// The returns of a routine.
fn ends(routine: Place, blocks: &HashMap<Place, &Block>) -> BTreeSet<Place> {
    let mut ends = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![routine];
    while let Some(place) = open.pop() {
        let Some(block) = blocks.get(&place) else {
            continue;
        };
        if !seen.insert(place) || seen.len() > MAX_FOLLOWED {
            continue;
        }
        for instruction in &block.instructions {
            if instruction.is_return() {
                ends.insert(place.at(instruction.pc));
            } else if !instruction.is_call() {
                open.extend(instruction.target().map(|target| place.at(target)));
            }
        }
        let last = block.instructions.last();
        open.extend(
            last.filter(|last| !last.never_falls_through())
                .map(|last: &Instruction| place.at(last.next_pc())),
        );
    }
    ends
}
