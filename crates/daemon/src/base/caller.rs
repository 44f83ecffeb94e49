//! Who sent a request, and how the request can end before its answer.

use std::cell::OnceCell;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::base::budget::RequestPermit;
use crate::base::outbox::Outbox;
use crate::base::peer::PeerIdentity;

/// The connection that a request came by. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Caller {
    /// Tells connections apart; set by the connection when it begins.
    pub(crate) id: u64,
    /// Takes the lines that are sent to the client.
    pub(crate) outbox: Outbox,
    /// Who the client says it is, and the sessions it hears of.
    pub(crate) peer: Arc<PeerIdentity>,
}

/// One request while its method begins: whose it is, what its line holds, and what may interrupt it.
pub(crate) struct Call<'a> {
    /// The connection it came by.
    pub(crate) caller: &'a Caller,
    /// Cancelled when the client has gone.
    gone: &'a CancellationToken,
    /// The memory that a long line takes; `None` for the short lines that are not counted, and when there was none.
    permit: Option<RequestPermit>,
    /// Made when the method asks for it: most events need none.
    cancelled: OnceCell<CancellationToken>,
}

/// What may end a request before its answer.
#[derive(Clone)]
pub(crate) struct Interrupts {
    /// Cancelled when the client cancels the request.
    pub(crate) cancelled: CancellationToken,
    /// Cancelled when the client has gone.
    pub(crate) gone: CancellationToken,
}

/// Which of them did.
pub(crate) enum Interruption {
    /// The client has cancelled the request.
    Cancelled,
    /// The client has gone.
    ClientGone,
}

impl Interrupts {
    /// Waits until something ends the request.
    pub(crate) async fn interrupted(&self) -> Interruption {
        tokio::select! {
            biased;
            () = self.cancelled.cancelled() => Interruption::Cancelled,
            () = self.gone.cancelled() => Interruption::ClientGone,
        }
    }
}

impl<'a> Call<'a> {
    /// A request of this caller's, whose line holds this memory.
    pub(crate) fn new(
        caller: &'a Caller,
        gone: &'a CancellationToken,
        permit: Option<RequestPermit>,
    ) -> Call<'a> {
        Call { caller, gone, permit, cancelled: OnceCell::new() }
    }

    /// The memory that the request's line takes, to be held for as long as anything of the request runs.
    pub(crate) fn permit(&self) -> Option<RequestPermit> {
        self.permit.clone()
    }

    /// Cancels the request's work.
    pub(crate) fn cancelled(&self) -> &CancellationToken {
        self.cancelled.get_or_init(CancellationToken::new)
    }

    /// What may end the request before its answer.
    pub(crate) fn interrupts(&self) -> Interrupts {
        Interrupts { cancelled: self.cancelled().clone(), gone: self.gone.clone() }
    }
}
