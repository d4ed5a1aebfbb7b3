//! Scenes of clumsy and hostile sellers, over real sockets, in every way that a call is driven.

#[cfg(test)]
mod gauge;
#[cfg(test)]
mod mode;
#[cfg(test)]
mod offers;
#[cfg(test)]
mod origins;
#[cfg(test)]
mod parallel;
#[cfg(test)]
mod pending;
#[cfg(test)]
mod refused;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod settled_lost;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod table;
#[cfg(test)]
mod throttled;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use tokio::task::JoinSet;
    use tokio::time::timeout;

    use crate::mode::Mode;
    use crate::scene::{Outcome, Scene};
    use crate::table::{self, Row};
    use crate::{offers, origins, parallel, pending, refused, settled_lost, streams, throttled};

    /// Plays a scene in all its modes at once.
    async fn play(scene: Scene) -> Row {
        let mut playing = JoinSet::new();
        for mode in scene.modes.iter().copied() {
            let (outcome, number) = ((scene.play)(mode), scene.number);
            playing.spawn(async move {
                let ended = timeout(LONGEST, outcome).await;
                let outcome =
                    ended.unwrap_or_else(|_| panic!("scene {number}, {}: no end", mode.title()));
                (mode, outcome)
            });
        }
        let outcomes: BTreeMap<Mode, Outcome> = playing.join_all().await.into_iter().collect();
        Row { scene, outcomes }
    }

    fn all_scenes() -> Vec<Scene> {
        let mut scenes = [
            offers::scenes(),
            origins::scenes(),
            parallel::scenes(),
            pending::scenes(),
            refused::scenes(),
            settled_lost::scenes(),
            streams::scenes(),
            throttled::scenes(),
        ]
        .concat();
        scenes.sort_by_key(|scene| order(scene.number));
        scenes
    }

    /// Orders `2`, `10`, `10b`.
    fn order(number: &str) -> (u32, &str) {
        let digits = number.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
        (digits.parse().unwrap(), &number[digits.len()..])
    }

    #[test]
    fn there_is_a_scene_of_every_number() {
        let mut numbers: Vec<_> = all_scenes()
            .iter()
            .map(|scene| order(scene.number).0)
            .collect();
        numbers.dedup();
        assert_eq!(numbers, (1..=34).collect::<Vec<_>>());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn one_logical_call_is_one_payment_at_most_whatever_the_seller_and_the_loops_around_do() {
        let mut rows = Vec::new();
        for scene in all_scenes() {
            rows.push(play(scene).await);
        }

        let wrong = table::print(&rows);

        assert!(
            wrong.is_empty(),
            "{} wrong:\n  {}",
            wrong.len(),
            wrong.join("\n  ")
        );
    }

    /// Real time, of which a scene takes tenths of a second.
    const LONGEST: Duration = Duration::from_secs(60);
}
