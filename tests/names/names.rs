//! A name on a request.

use paywait::{Clock, End, NotPaid, PurchaseName};
use paywait_seller::{Canned, Identifier, Route, Step};
use reqwest_middleware::ClientWithMiddleware;
use support::buyer::{Buyer, Ours, report, status};
use support::foreign::Foreign;
use support::shop::{Stand, slow_down, terms, upfront};

/// What came of one call.
type Ended = reqwest_middleware::Result<reqwest::Response>;

async fn named(client: &ClientWithMiddleware, url: String, name: &str) -> Ended {
    let request = client.get(url).with_extension(PurchaseName::new(name));
    request.send().await
}

/// Sellers that serve what was paid before, or say that it was.
fn routes() -> [Route; 4] {
    [
        Route::new("/identified", terms()).identifier(Identifier::Optional),
        Route::new("/identified-upfront", upfront()).identifier(Identifier::Required),
        Route::new("/upfront", upfront()),
        Route::new("/plain", terms()),
    ]
}

#[tokio::test]
async fn the_same_name_twice_is_one_nonce() {
    for order in Ours::ORDERS {
        for route in routes() {
            let path = route.path().to_owned();
            let stand = Stand::open([route]).await;
            let buyer = Buyer::new(&stand.clock);
            let client = buyer.client(&order);
            let where_ = format!("{order:?} {path}");

            let first = named(&client, stand.url(&path), "order-17").await;
            let sends = stand.sends();
            let second = named(&client, stand.url(&path), "order-17").await;

            assert_eq!(status(&first), Some(200), "{where_}");
            assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{where_}");
            assert_eq!(buyer.signer.asked(), 1, "{where_}");
            assert!(buyer.tap.shows_one_payment(), "{where_}");
            assert_eq!(
                stand.paid_sends(),
                stand.sends() - 1,
                "{where_}: one price check in all"
            );
            assert!(stand.sends() > sends, "{where_}: the second asked again");
            assert!(status(&second).is_some(), "{where_}");
            let used = buyer.ledger.used_today(stand.clock.now());
            assert_eq!(used.to_string(), "0.01", "{where_}");
            assert_eq!(
                buyer.store.admissions(),
                u64::try_from(stand.sends()).unwrap()
            );
            if path != "/plain" {
                assert_eq!(status(&second), Some(200), "{where_}");
            }
        }
    }
}

#[tokio::test]
async fn two_names_are_two_nonces() {
    let stand = Stand::open([Route::new("/report", terms())]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&Ours::ORDERS[0]);

    for name in ["order-17", "order-18"] {
        let ended = named(&client, stand.url("/report"), name).await;
        assert_eq!(status(&ended), Some(200));
    }

    assert_eq!((stand.nonces(), stand.settlements()), (2, 2));
}

#[tokio::test]
async fn another_request_under_the_same_name_is_refused_and_nothing_is_signed() {
    for order in Ours::ORDERS {
        let routes = ["/report", "/other"].map(|path| Route::new(path, terms()));
        let stand = Stand::open(routes).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client(&order);
        named(&client, stand.url("/report"), "order-17")
            .await
            .unwrap();
        let sends = stand.sends();

        let others = [
            client.get(stand.url("/other")),
            client.get(stand.url("/report?page=2")),
            client.post(stand.url("/report")),
            client.get(stand.url("/report")).body("with a body"),
        ];
        for other in others {
            let error = other
                .with_extension(PurchaseName::new("order-17"))
                .send()
                .await
                .unwrap_err();
            let ours = paywait::Error::find(&error).unwrap();
            assert_eq!(
                ours.end(),
                &End::NotPaid(NotPaid::OtherRequest),
                "{order:?}"
            );
            assert!(ours.report().sends.is_empty(), "{order:?}");
        }

        assert_eq!(stand.sends(), sends, "{order:?}: nothing was sent");
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{order:?}");
        assert_eq!(buyer.signer.asked(), 1, "{order:?}");
    }
}

#[tokio::test]
async fn of_two_callers_of_one_name_at_once_one_pays_and_the_other_waits_for_it() {
    for order in Ours::ORDERS {
        let late = Step::normal().late(support::clock::GRACE * 5);
        let route = Route::new("/report", upfront()).paid_script([late]);
        let stand = Stand::open([route]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client(&order);
        let second = async {
            stand.arrived(2).await;
            named(&client, stand.url("/report"), "order-17").await
        };

        let (first, second) =
            tokio::join!(named(&client, stand.url("/report"), "order-17"), second);

        assert_eq!(status(&first), Some(200), "{order:?}: {first:?}");
        let told = report(&second).unwrap();
        assert_eq!(told.end, End::Served, "{order:?}: {second:?}");
        assert!(!told.waited.is_zero(), "{order:?}");
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{order:?}");
        assert_eq!(buyer.signer.asked(), 1, "{order:?}");
        let third = named(&client, stand.url("/report"), "order-17").await;
        assert_eq!(status(&third), Some(200), "{order:?}: it is free again");
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{order:?}");
    }
}

#[tokio::test]
async fn eight_callers_of_one_name_at_once_pay_once() {
    for order in Ours::ORDERS {
        let stand = Stand::open([Route::new("/report", upfront())]).await;
        let buyer = Buyer::new(&stand.clock);
        let client = buyer.client(&order);
        let call = || named(&client, stand.url("/report"), "order-17");

        let ended = tokio::join!(
            call(),
            call(),
            call(),
            call(),
            call(),
            call(),
            call(),
            call()
        );

        let ended: [Ended; 8] = ended.into();
        let served = ended
            .iter()
            .filter(|ended| status(ended) == Some(200))
            .count();
        assert!(served >= 1, "{order:?}: {ended:?}");
        for one in &ended {
            let end = &report(one).unwrap().end;
            assert!(
                matches!(end, End::Served | End::InFlight),
                "{order:?}: {end:?}"
            );
        }
        assert_eq!((stand.nonces(), stand.settlements()), (1, 1), "{order:?}");
        assert_eq!(buyer.signer.asked(), 1, "{order:?}");
    }
}

#[tokio::test]
async fn a_named_purchase_that_was_not_delivered_is_taken_up_by_another_client_of_the_same_ledger()
{
    for order in Ours::ORDERS {
        let steps = vec![Step::settled(slow_down()); 4];
        let stand = Stand::open([Route::new("/report", upfront()).paid_script(steps)]).await;
        let buyer = Buyer::new(&stand.clock);

        let first = named(&buyer.client(&order), stand.url("/report"), "order-17").await;
        let mut reversed = order;
        reversed.reverse();
        let second = named(&buyer.client(&reversed), stand.url("/report"), "order-17").await;

        assert_eq!(
            report(&first).unwrap().end,
            End::PaidNotDelivered,
            "{order:?}"
        );
        assert_eq!(status(&second), Some(200), "{order:?}");
        assert_eq!(
            (stand.sends(), stand.nonces(), stand.settlements()),
            (6, 1, 1),
            "{order:?}"
        );
        assert!(buyer.tap.shows_one_payment(), "{order:?}");
    }
}

#[tokio::test]
async fn a_name_holds_through_layers_that_change_the_request_below() {
    for order in Ours::ORDERS {
        let stand = Stand::open([Route::new("/report", upfront())]).await;
        let buyer = Buyer::new(&stand.clock);
        let mut layers = support::buyer::bare();
        for (ours, foreign) in
            order
                .into_iter()
                .zip([Foreign::Query, Foreign::Neutral, Foreign::Query])
        {
            layers = foreign.attach(buyer.attach(layers, ours));
        }
        let client = layers.build();

        for _ in 0..2 {
            let ended = named(&client, stand.url("/report"), "order-17").await;
            assert_eq!(status(&ended), Some(200), "{order:?}");
        }

        assert_eq!(
            (stand.sends(), stand.nonces(), stand.settlements()),
            (3, 1, 1),
            "{order:?}"
        );
    }
}

#[tokio::test]
async fn a_free_answer_leaves_a_name_unused() {
    let sold_out = Step::reply(Canned::new(http::StatusCode::NOT_FOUND));
    let stand = Stand::open([Route::new("/report", terms()).script([sold_out])]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&Ours::ORDERS[1]);

    let first = named(&client, stand.url("/report"), "order-17").await;
    let second = named(&client, stand.url("/report"), "order-17").await;

    assert_eq!((status(&first), status(&second)), (Some(404), Some(200)));
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
}

#[tokio::test]
async fn a_name_says_itself_which_request_it_belongs_to() {
    let stand = Stand::open([Route::new("/report", upfront())]).await;
    let buyer = Buyer::new(&stand.clock);
    let client = buyer.client(&Ours::ORDERS[0]);
    let buy = async |query: &str, words: &str| {
        let name = PurchaseName::new("order-17").for_request(words);
        let request = client.get(stand.url(&format!("/report?at={query}")));
        request.with_extension(name).send().await
    };
    assert_eq!(status(&buy("noon", "the report").await), Some(200));
    let later = buy("midnight", "the report").await;
    assert!(status(&later).is_some(), "{later:?}");
    let other = buy("noon", "another report").await;
    assert_eq!(
        report(&other).unwrap().end,
        End::NotPaid(NotPaid::OtherRequest)
    );
    assert_eq!((stand.nonces(), stand.settlements()), (1, 1));
    assert_eq!(buyer.signer.asked(), 1);
}
