# Written by `npm run surface` from the operations. Do not edit.
"""What the operations take and answer. A newer server may answer more fields and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Generic, List, Optional, TypedDict, TypeVar, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

P = TypeVar("P")


class WhoamiAnswerProject(TypedDict):
    """The project of the key."""

    #: `prj_…`.
    id: str
    #: Its name in addresses.
    slug: str
    #: What people call it.
    name: str


class WhoamiAnswerKey(TypedDict):
    """The key of this call."""

    #: `key_…`.
    id: str
    #: What people call it.
    name: str
    #: What it may do.
    scopes: List[str]
    #: The only names on the disk that it may use start with these. Null: all.
    disk_prefixes: Optional[List[str]]
    #: When it ends; null means never.
    expires_at: Optional[str]


class WhoamiAnswerAgent(TypedDict):
    """The agent of this call."""

    #: As it calls itself; a claim, not proof.
    label: Optional[str]
    #: The agent's platform.
    platform: str
    #: Where the name comes from. One of: header, hello, mcp_client_info, user_agent, none.
    source: str


class WhoamiAnswerUrls(TypedDict):
    """Addresses of this server."""

    #: Base of REST.
    api: str
    #: The MCP endpoint.
    mcp: str
    #: Base of webhook addresses.
    hooks: str


class WhoamiAnswerServer(TypedDict):
    """This server."""

    #: Its version.
    version: str
    #: How people can be reached.
    channels: List[str]
    #: `kept`: no mail server is set, so mail stays on this server. One of: sent, kept.
    mail: str


class WhoamiAnswer(TypedDict):
    """The answer of whoami."""

    #: The project of the key.
    project: WhoamiAnswerProject
    #: The key of this call.
    key: WhoamiAnswerKey
    #: What this call may do.
    scopes: List[str]
    #: The agent of this call.
    agent: WhoamiAnswerAgent
    #: Addresses of this server.
    urls: WhoamiAnswerUrls
    #: This server.
    server: WhoamiAnswerServer


class SessionHelloAnswer(TypedDict):
    """The answer of `POST /v1/session/hello`."""

    #: As given.
    agent: str
    #: One of the known platforms, otherwise `custom`.
    platform: str
    #: When the session began.
    started_at: str


class Key(TypedDict):
    """An API key, without its secret."""

    #: `key_…`.
    id: str
    #: What people call it.
    name: str
    #: Whether it works. One of: active, expired, revoked.
    status: str
    #: The last characters of the secret.
    last4: str
    #: What it may do.
    scopes: List[str]
    #: The only names on the disk that the key may use start with these. Null: all.
    disk_prefixes: Optional[List[str]]
    #: When it was created.
    created_at: str
    #: Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`.
    created_by: Optional[str]
    #: The same for people: a key’s name, a masked address, or `unknown`.
    maker: str
    #: When it was last used.
    last_used_at: Optional[str]
    #: When it ends; null means never.
    expires_at: Optional[str]
    #: When it was revoked.
    revoked_at: Optional[str]
    #: The host of the app that a person let in by OAuth; null for other keys.
    client: Optional[str]


class KeyPage(TypedDict):
    """One page of a list."""

    #: Oldest first.
    items: List[Key]
    #: Pass as `cursor` for the next page; null on the last.
    next_cursor: Optional[str]


class KeyWithSecret(TypedDict):
    """An API key with its secret."""

    #: `key_…`.
    id: str
    #: What people call it.
    name: str
    #: Whether it works. One of: active, expired, revoked.
    status: str
    #: The last characters of the secret.
    last4: str
    #: What it may do.
    scopes: List[str]
    #: The only names on the disk that the key may use start with these. Null: all.
    disk_prefixes: Optional[List[str]]
    #: When it was created.
    created_at: str
    #: Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`.
    created_by: Optional[str]
    #: The same for people: a key’s name, a masked address, or `unknown`.
    maker: str
    #: When it was last used.
    last_used_at: Optional[str]
    #: When it ends; null means never.
    expires_at: Optional[str]
    #: When it was revoked.
    revoked_at: Optional[str]
    #: The host of the app that a person let in by OAuth; null for other keys.
    client: Optional[str]
    #: The secret, shown only once.
    api_key: str


class MadeThing(TypedDict):
    """Something that gives access on its own, once somebody has made it."""

    #: What it is. One of: key, route, invitation, member, channel, source, request, email, file_link, upload, browser, callback_secret.
    kind: str
    #: Its id; for a source its name.
    id: str
    #: What people call it: a name, an address, a URL or a path.
    name: str


class LeftThing(TypedDict):
    """Something that goes on after its maker has ended."""

    #: What it is. One of: key, route, invitation, member, channel, source, request, email, file_link, upload, browser, callback_secret.
    kind: str
    #: Its id; for a source its name.
    id: str
    #: What people call it: a name, an address, a URL or a path.
    name: str
    #: Why it goes on, and how to end it.
    hint: str


class KeyGetAnswer(TypedDict):
    """The answer of `GET /v1/keys/{id}`."""

    #: `key_…`.
    id: str
    #: What people call it.
    name: str
    #: Whether it works. One of: active, expired, revoked.
    status: str
    #: The last characters of the secret.
    last4: str
    #: What it may do.
    scopes: List[str]
    #: The only names on the disk that the key may use start with these. Null: all.
    disk_prefixes: Optional[List[str]]
    #: When it was created.
    created_at: str
    #: Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`.
    created_by: Optional[str]
    #: The same for people: a key’s name, a masked address, or `unknown`.
    maker: str
    #: When it was last used.
    last_used_at: Optional[str]
    #: When it ends; null means never.
    expires_at: Optional[str]
    #: When it was revoked.
    revoked_at: Optional[str]
    #: The host of the app that a person let in by OAuth; null for other keys.
    client: Optional[str]
    #: What `DELETE /v1/keys/{id}` ends with it.
    ends: List[MadeThing]
    #: What goes on, each with how to end it.
    stays: List[LeftThing]


class KeyRevokeAnswer(TypedDict):
    """The answer of `DELETE /v1/keys/{id}`."""

    #: `key_…`.
    id: str
    #: When it stopped working.
    revoked_at: str
    #: What ended with it.
    ended: List[MadeThing]
    #: What goes on, each with how to end it.
    left: List[LeftThing]


class KeyRotateAnswer(TypedDict):
    """The answer of `POST /v1/keys/{id}/rotate`."""

    #: `key_…`.
    id: str
    #: What people call it.
    name: str
    #: Whether it works. One of: active, expired, revoked.
    status: str
    #: The last characters of the secret.
    last4: str
    #: What it may do.
    scopes: List[str]
    #: The only names on the disk that the key may use start with these. Null: all.
    disk_prefixes: Optional[List[str]]
    #: When it was created.
    created_at: str
    #: Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`.
    created_by: Optional[str]
    #: The same for people: a key’s name, a masked address, or `unknown`.
    maker: str
    #: When it was last used.
    last_used_at: Optional[str]
    #: When it ends; null means never.
    expires_at: Optional[str]
    #: When it was revoked.
    revoked_at: Optional[str]
    #: The host of the app that a person let in by OAuth; null for other keys.
    client: Optional[str]
    #: The secret, shown only once.
    api_key: str
    #: What ended with it.
    ended: List[MadeThing]
    #: What goes on, each with how to end it.
    left: List[LeftThing]


class SourceWithCountsLimited(TypedDict):
    #: Which limit. One of: source_bytes, project_bytes, events_per_minute, bytes_per_10_minutes.
    kind: str
    #: What it may store, in all or in the time of the limit.
    limit: int
    #: What it has stored of that.
    used: int
    #: Seconds until it takes events again.
    retry_after: int


class SourceWithCounts(TypedDict):
    """A source with what has reached it."""

    #: Unique in the project.
    name: str
    #: What it receives. One of: webhook, email.
    type: str
    #: How deliveries are signed; `none` accepts anyone with the URL. One of: stripe, github, hmac_sha256, standard_webhooks, none, adyen, asana, bitbucket, cloudevents, docusign, dropbox, gitlab, hubspot, intercom, linear, mailgun, meta, microsoft_graph, okta, pagerduty, paypal, postmark, sendgrid, sentry, shopify, slack, square, trello, twilio, typeform, zendesk, zoom.
    verification: str
    #: `hmac_sha256`: the signature's header.
    signature_header: Optional[str]
    #: Where to send webhooks; for mail, where a mail server can POST whole mails.
    url: Optional[str]
    #: Mail: the project's address.
    address: Optional[str]
    #: When it was added.
    created_at: str
    #: How long the previous secret stays valid; null if there is none.
    previous_secret_valid_until: Optional[str]
    #: Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`.
    created_by: Optional[str]
    #: The same for people: a key’s name, a masked address, or `unknown`.
    maker: str
    #: Who set the secret, as `maker`; null without a secret.
    secret_maker: Optional[str]
    #: When the last event arrived.
    last_event_at: Optional[str]
    #: Events of the last 24 hours.
    events_24h: int
    #: Deliveries refused in the last 24 hours.
    rejected_24h: int
    #: Deliveries of the last 24 hours that made no event, because they had no id and the bytes of an earlier one.
    repeated_24h: int
    #: What its events count until their payloads are purged.
    stored_bytes: int
    #: The limit that keeps it from taking events now; null if it takes them.
    limited: Optional[SourceWithCountsLimited]


class SourceWithCountsPage(TypedDict):
    """One page of a list."""

    #: Oldest first.
    items: List[SourceWithCounts]
    #: Always null: the list has one page.
    next_cursor: Optional[str]


class Source(TypedDict):
    """Where events come from."""

    #: Unique in the project.
    name: str
    #: What it receives. One of: webhook, email.
    type: str
    #: How deliveries are signed; `none` accepts anyone with the URL. One of: stripe, github, hmac_sha256, standard_webhooks, none, adyen, asana, bitbucket, cloudevents, docusign, dropbox, gitlab, hubspot, intercom, linear, mailgun, meta, microsoft_graph, okta, pagerduty, paypal, postmark, sendgrid, sentry, shopify, slack, square, trello, twilio, typeform, zendesk, zoom.
    verification: str
    #: `hmac_sha256`: the signature's header.
    signature_header: Optional[str]
    #: Where to send webhooks; for mail, where a mail server can POST whole mails.
    url: Optional[str]
    #: Mail: the project's address.
    address: Optional[str]
    #: When it was added.
    created_at: str
    #: How long the previous secret stays valid; null if there is none.
    previous_secret_valid_until: Optional[str]
    #: Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`.
    created_by: Optional[str]
    #: The same for people: a key’s name, a masked address, or `unknown`.
    maker: str
    #: Who set the secret, as `maker`; null without a secret.
    secret_maker: Optional[str]


class SourceRemoveAnswer(TypedDict):
    """The answer of `DELETE /v1/sources/{name}`."""

    #: The source.
    name: str
    #: When it stopped accepting webhooks.
    removed_at: str


class SourceRotateAnswer(TypedDict):
    """The answer of `POST /v1/sources/{name}/rotate`."""

    #: The source.
    name: str
    #: How deliveries are signed. One of: stripe, github, hmac_sha256, standard_webhooks, none, adyen, asana, bitbucket, cloudevents, docusign, dropbox, gitlab, hubspot, intercom, linear, mailgun, meta, microsoft_graph, okta, pagerduty, paypal, postmark, sendgrid, sentry, shopify, slack, square, trello, twilio, typeform, zendesk, zoom.
    verification: str
    #: When the new secret came into force.
    rotated_at: str
    #: When the old secret stops working.
    previous_valid_until: Optional[str]


class SourceSignAnswer(TypedDict):
    """The answer of `POST /v1/sources/{name}/sign`."""

    #: Where to POST the body.
    url: str
    #: Headers to send with it.
    headers: Dict[str, str]
    #: The body to send instead, for senders that sign in it; otherwise null.
    body_base64: Optional[str]


class Attachment(TypedDict):
    """A file of a mail."""

    #: File name; `evt_…/name` names it in file operations.
    name: str
    #: Media type, as the mail states it.
    content_type: str
    #: Size after decoding.
    size_bytes: int
    #: How the HTML refers to it.
    content_id: Optional[str]
    #: Shown inside the HTML.
    inline: bool
    #: SHA-256 of the bytes, in hex.
    sha256: str
    #: Link to the file, valid for an hour; only when the event is claimed or read alone.
    url: NotRequired[str]
    #: When the link ends.
    url_expires_at: NotRequired[str]


class BlockedAttachment(TypedDict):
    """A file of a mail that was not stored."""

    #: File name, as the mail states it.
    name: str
    #: Media type, as the mail states it.
    content_type: str
    #: Size after decoding.
    size_bytes: int
    #: Why it was not stored. One of: executable, encrypted_archive, too_large, too_many.
    reason: str


class EventWaitingForItem(TypedDict):
    #: What it waits for: a request, a mail, another event or a time.
    id: str
    #: How that stands.
    status: str
    #: When it ends at the latest.
    expires_at: str


class Event(TypedDict):
    """A webhook, a mail, or what the service reports."""

    #: `evt_…`.
    id: str
    #: The owning project, `prj_…`.
    project: str
    #: Name of the source; `service` for events that the service writes.
    source: str
    #: `webhook` or `email` for received events.
    channel: str
    #: What happened: the type that the sender names, such as `invoice.paid`, or `webhook.received`, `email.received`.
    type: str
    #: When it arrived.
    received_at: str
    #: The signature was checked; for mail, DKIM and DMARC passed.
    verified: bool
    #: The sender sent a secret along, which shows who it is and does not protect the content.
    authenticated: NotRequired[str]
    #: Outsiders wrote the content, unless this is `service`. One of: external_untrusted, service.
    trust: str
    #: The same content was received before under another id.
    suspected_replay: bool
    #: Mail: the message that this one answers.
    reply_to: Optional[str]
    #: Webhooks: the request headers, without credentials and signatures.
    headers: NotRequired[Dict[str, str]]
    #: The parsed body; any other body is `{text}` or `{base64}`. Null if it is not part of this answer.
    payload: Any
    #: Link to a body over 256 KB, valid for an hour; only when the event is claimed or read alone.
    payload_url: Optional[str]
    #: Webhooks: link to the body, byte for byte as it came, valid for an hour; only when the event is claimed.
    body_url: NotRequired[str]
    #: The payload was left out of this answer because it is over 8 KB; `POST /v1/inbox/claim` returns it.
    payload_truncated: bool
    #: The payload was deleted, 30 days after it arrived.
    payload_purged: bool
    #: Mail: the conversation it belongs to.
    thread_id: NotRequired[Optional[str]]
    #: Mail: a safe page with the HTML, valid for an hour.
    html_url: NotRequired[Optional[str]]
    #: Mail: the attached files.
    attachments: NotRequired[List[Attachment]]
    #: Mail: attached files that were not stored.
    attachments_blocked: NotRequired[List[BlockedAttachment]]
    #: Where it is in the queue. One of: pending, claimed, done, failed, dead, waiting.
    status: str
    #: How often it failed or its lease ran out.
    attempts: int
    #: When a failed event is pending again.
    retry_at: Optional[str]
    #: Failed and dead events: why, as the agent said it.
    reason: NotRequired[str]
    #: What it is about, in one line; only in a brief list.
    gist: NotRequired[str]
    #: Parked events only: what has to end before it is pending again.
    waiting_for: NotRequired[List[EventWaitingForItem]]
    #: When it was parked.
    parked_at: NotRequired[str]
    #: When it wakes at the latest.
    wakes_at: NotRequired[str]


class EventPage(TypedDict):
    """One page of a list."""

    #: Oldest first, unless `newest` was asked for.
    items: List[Event]
    #: Pass as `cursor` for the next page; null on the last.
    next_cursor: Optional[str]
    #: How to get left-out payloads.
    hint: NotRequired[str]
    #: Why the filter might never match.
    warnings: NotRequired[List[str]]


class InboxWaitAnswer(TypedDict):
    """The answer of `GET /v1/inbox/wait`."""

    #: The first match, not claimed; null at the time-out.
    event: Optional[Event]
    #: How to get left-out payloads.
    hint: NotRequired[str]
    #: Why the filter might never match.
    warnings: NotRequired[List[str]]


class EventWithResultWaitingForItem(TypedDict):
    #: What it waits for: a request, a mail, another event or a time.
    id: str
    #: How that stands.
    status: str
    #: When it ends at the latest.
    expires_at: str


class EventWithResult(TypedDict):
    """An event with how it was finished."""

    #: `evt_…`.
    id: str
    #: The owning project, `prj_…`.
    project: str
    #: Name of the source; `service` for events that the service writes.
    source: str
    #: `webhook` or `email` for received events.
    channel: str
    #: What happened: the type that the sender names, such as `invoice.paid`, or `webhook.received`, `email.received`.
    type: str
    #: When it arrived.
    received_at: str
    #: The signature was checked; for mail, DKIM and DMARC passed.
    verified: bool
    #: The sender sent a secret along, which shows who it is and does not protect the content.
    authenticated: NotRequired[str]
    #: Outsiders wrote the content, unless this is `service`. One of: external_untrusted, service.
    trust: str
    #: The same content was received before under another id.
    suspected_replay: bool
    #: Mail: the message that this one answers.
    reply_to: Optional[str]
    #: Webhooks: the request headers, without credentials and signatures.
    headers: NotRequired[Dict[str, str]]
    #: The parsed body; any other body is `{text}` or `{base64}`. Null if it is not part of this answer.
    payload: Any
    #: Link to a body over 256 KB, valid for an hour; only when the event is claimed or read alone.
    payload_url: Optional[str]
    #: Webhooks: link to the body, byte for byte as it came, valid for an hour; only when the event is claimed.
    body_url: NotRequired[str]
    #: The payload was left out of this answer because it is over 8 KB; `POST /v1/inbox/claim` returns it.
    payload_truncated: bool
    #: The payload was deleted, 30 days after it arrived.
    payload_purged: bool
    #: Mail: the conversation it belongs to.
    thread_id: NotRequired[Optional[str]]
    #: Mail: a safe page with the HTML, valid for an hour.
    html_url: NotRequired[Optional[str]]
    #: Mail: the attached files.
    attachments: NotRequired[List[Attachment]]
    #: Mail: attached files that were not stored.
    attachments_blocked: NotRequired[List[BlockedAttachment]]
    #: Where it is in the queue. One of: pending, claimed, done, failed, dead, waiting.
    status: str
    #: How often it failed or its lease ran out.
    attempts: int
    #: When a failed event is pending again.
    retry_at: Optional[str]
    #: The reason of the latest `POST /v1/inbox/nack`, in any state.
    reason: Optional[str]
    #: What it is about, in one line; only in a brief list.
    gist: NotRequired[str]
    #: Parked events only: what has to end before it is pending again.
    waiting_for: NotRequired[List[EventWithResultWaitingForItem]]
    #: When it was parked.
    parked_at: NotRequired[str]
    #: When it wakes at the latest.
    wakes_at: NotRequired[str]
    #: The result from `POST /v1/inbox/ack`, or null.
    result: Any


class EventLink(TypedDict):
    """A link to the body of a webhook."""

    #: The bytes as they came; anyone with the link can read them.
    body_url: str
    #: When the link ends.
    url_expires_at: str
    #: How long the body is.
    size_bytes: int


class ClaimedEventWaitingForItem(TypedDict):
    #: What it waits for: a request, a mail, another event or a time.
    id: str
    #: How that stands.
    status: str
    #: When it ends at the latest.
    expires_at: str


class ResumedWaitedForItem(TypedDict):
    #: A request, a mail, another event or a time.
    id: str
    #: How it ended.
    status: str


class ResumedAnswersItem(TypedDict):
    #: `req_…`.
    request_id: str
    #: How it was decided.
    status: str
    #: The chosen option or the answer.
    decision: Optional[str]
    #: What the person added.
    comment: Optional[str]
    #: `channel:<id>` or `policy:<rule>`.
    decided_by: Optional[str]
    #: When it was decided.
    decided_at: Optional[str]


class Resumed(TypedDict):
    """Why a parked event is back."""

    #: How often it was parked.
    parks: int
    #: What woke it: an id, a time, `now`, or `requeued`.
    because: str
    #: What it waited for.
    waited_for: List[ResumedWaitedForItem]
    #: Decisions on the requests it waited for.
    answers: List[ResumedAnswersItem]
    #: What the agent stored when it parked the event.
    state: Any


class _ClaimedEvent(TypedDict):
    """An event with its lease."""

    #: `evt_…`.
    id: str
    #: The owning project, `prj_…`.
    project: str
    #: Name of the source; `service` for events that the service writes.
    source: str
    #: `webhook` or `email` for received events.
    channel: str
    #: What happened: the type that the sender names, such as `invoice.paid`, or `webhook.received`, `email.received`.
    type: str
    #: When it arrived.
    received_at: str
    #: The signature was checked; for mail, DKIM and DMARC passed.
    verified: bool
    #: The sender sent a secret along, which shows who it is and does not protect the content.
    authenticated: NotRequired[str]
    #: Outsiders wrote the content, unless this is `service`. One of: external_untrusted, service.
    trust: str
    #: The same content was received before under another id.
    suspected_replay: bool
    #: Mail: the message that this one answers.
    reply_to: Optional[str]
    #: Webhooks: the request headers, without credentials and signatures.
    headers: NotRequired[Dict[str, str]]
    #: Link to a body over 256 KB, valid for an hour; only when the event is claimed or read alone.
    payload_url: Optional[str]
    #: Webhooks: link to the body, byte for byte as it came, valid for an hour; only when the event is claimed.
    body_url: NotRequired[str]
    #: The payload was left out of this answer because it is over 8 KB; `POST /v1/inbox/claim` returns it.
    payload_truncated: bool
    #: The payload was deleted, 30 days after it arrived.
    payload_purged: bool
    #: Mail: the conversation it belongs to.
    thread_id: NotRequired[Optional[str]]
    #: Mail: a safe page with the HTML, valid for an hour.
    html_url: NotRequired[Optional[str]]
    #: Mail: the attached files.
    attachments: NotRequired[List[Attachment]]
    #: Mail: attached files that were not stored.
    attachments_blocked: NotRequired[List[BlockedAttachment]]
    #: Where it is in the queue. One of: pending, claimed, done, failed, dead, waiting.
    status: str
    #: How often it failed or its lease ran out.
    attempts: int
    #: When a failed event is pending again.
    retry_at: Optional[str]
    #: Failed and dead events: why, as the agent said it.
    reason: NotRequired[str]
    #: What it is about, in one line; only in a brief list.
    gist: NotRequired[str]
    #: Parked events only: what has to end before it is pending again.
    waiting_for: NotRequired[List[ClaimedEventWaitingForItem]]
    #: When it was parked.
    parked_at: NotRequired[str]
    #: When it wakes at the latest.
    wakes_at: NotRequired[str]
    #: Proof of this claim; pass it on to ack, nack or extend.
    lease_id: str
    #: Ack, nack or extend before then, or others may claim it.
    lease_expires_at: str
    resumed: NotRequired[Resumed]


class ClaimedEvent(_ClaimedEvent):
    """An event with its lease."""

    #: The parsed body; any other body is `{text}` or `{base64}`. Null if it is not part of this answer.
    payload: Any


if TYPE_CHECKING:

    class WorkEvent(_ClaimedEvent, Generic[P]):
        """An event with its lease, and with the payload as the worker parsed it."""

        payload: P

else:
    WorkEvent = dict


class InboxAckAnswer(TypedDict):
    """The answer of `POST /v1/inbox/ack`."""

    #: `evt_…`.
    event_id: str
    #: Acked events stay done.
    status: str
    #: When it was acked first.
    acked_at: str
    #: JSON kept as text.
    warnings: NotRequired[List[str]]


class InboxNackAnswerWaitingForItem(TypedDict):
    #: A request, a mail, another event or a time.
    id: str
    #: How that stands.
    status: str
    #: When it ends at the latest.
    expires_at: str


class InboxNackAnswer(TypedDict):
    """The answer of `POST /v1/inbox/nack`."""

    #: `evt_…`.
    event_id: str
    #: `failed` events are pending again at `retry_at`; `dead` ones stay. One of: failed, dead, waiting, pending.
    status: str
    #: Failures so far; the fifth is the last.
    attempts: int
    #: How often it was parked.
    parks: NotRequired[int]
    #: What has to end first.
    waiting_for: NotRequired[List[InboxNackAnswerWaitingForItem]]
    #: When it wakes at the latest.
    wakes_at: NotRequired[str]
    #: When it is pending again.
    retry_at: Optional[str]
    #: JSON kept as text.
    warnings: NotRequired[List[str]]


class InboxExtendAnswer(TypedDict):
    """The answer of `POST /v1/inbox/extend`."""

    #: `evt_…`.
    event_id: str
    #: The lease, unchanged.
    lease_id: str
    #: When it now ends.
    lease_expires_at: str


class InboxRequeueAnswer(TypedDict):
    """The answer of `POST /v1/inbox/requeue`."""

    #: `evt_…`.
    event_id: str
    #: It can be claimed.
    status: str


class InboxReplayAnswerSkippedItem(TypedDict):
    #: `evt_…`.
    event_id: str
    #: Why it was skipped.
    reason: str


class InboxReplayAnswer(TypedDict):
    """The answer of `POST /v1/inbox/replay`."""

    #: Events that are pending again.
    event_ids: List[str]
    #: Events left alone.
    skipped: List[InboxReplayAnswerSkippedItem]
    #: Pass as `cursor` for the next page; null on the last.
    next_cursor: Optional[str]


class InboxNextAnswer(TypedDict):
    """The answer of `POST /v1/inbox/next`."""

    #: The claimed events; empty at the time-out.
    items: List[ClaimedEvent]
    #: Why the filter might never match.
    warnings: NotRequired[List[str]]


class RouteWithCounts(TypedDict):
    """A route with its open deliveries."""

    #: `rte_…`.
    id: str
    #: Where events are sent.
    callback_url: str
    #: Only events of this source; null means all.
    match_source: Optional[str]
    #: Only this type, or a prefix and `*`; null means all.
    match_type: Optional[str]
    #: False after a 410 Gone answer or `POST /v1/routes/{id}/disable`.
    enabled: bool
    #: Why it is disabled.
    disabled_reason: Optional[str]
    #: When it was added.
    created_at: str
    #: Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`.
    created_by: Optional[str]
    #: The same for people: a key’s name, a masked address, or `unknown`.
    maker: str
    #: Deliveries waiting for an attempt.
    pending: int
    #: Deliveries given up; see `POST /v1/routes/{id}/retry`.
    dead: int


class RouteWithCountsPage(TypedDict):
    """One page of a list."""

    #: Oldest first.
    items: List[RouteWithCounts]
    #: Always null: the list has one page.
    next_cursor: Optional[str]


class RouteAddAnswer(TypedDict):
    """The answer of `POST /v1/routes`."""

    #: `rte_…`.
    id: str
    #: Where events are sent.
    callback_url: str
    #: Only events of this source; null means all.
    match_source: Optional[str]
    #: Only this type, or a prefix and `*`; null means all.
    match_type: Optional[str]
    #: False after a 410 Gone answer or `POST /v1/routes/{id}/disable`.
    enabled: bool
    #: Why it is disabled.
    disabled_reason: Optional[str]
    #: When it was added.
    created_at: str
    #: Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`.
    created_by: Optional[str]
    #: The same for people: a key’s name, a masked address, or `unknown`.
    maker: str
    #: Receivers check signatures with it; shown only once.
    secret: str
    #: Why the route might never match.
    warnings: List[str]


class RouteRemoveAnswer(TypedDict):
    """The answer of `DELETE /v1/routes/{id}`."""

    #: `rte_…`.
    id: str
    #: When it was removed.
    removed_at: str


class Route(TypedDict):
    """Where matching events are sent."""

    #: `rte_…`.
    id: str
    #: Where events are sent.
    callback_url: str
    #: Only events of this source; null means all.
    match_source: Optional[str]
    #: Only this type, or a prefix and `*`; null means all.
    match_type: Optional[str]
    #: False after a 410 Gone answer or `POST /v1/routes/{id}/disable`.
    enabled: bool
    #: Why it is disabled.
    disabled_reason: Optional[str]
    #: When it was added.
    created_at: str
    #: Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`.
    created_by: Optional[str]
    #: The same for people: a key’s name, a masked address, or `unknown`.
    maker: str


class RouteEnableAnswer(TypedDict):
    """The answer of `POST /v1/routes/{id}/enable`."""

    #: `rte_…`.
    id: str
    #: Where events are sent.
    callback_url: str
    #: Only events of this source; null means all.
    match_source: Optional[str]
    #: Only this type, or a prefix and `*`; null means all.
    match_type: Optional[str]
    #: False after a 410 Gone answer or `POST /v1/routes/{id}/disable`.
    enabled: bool
    #: Why it is disabled.
    disabled_reason: Optional[str]
    #: When it was added.
    created_at: str
    #: Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`.
    created_by: Optional[str]
    #: The same for people: a key’s name, a masked address, or `unknown`.
    maker: str
    #: Deliveries due now.
    resumed: int
    #: True if there are more: call again.
    more: bool


class RouteAttempt(TypedDict):
    """One try to deliver an event."""

    #: From 1.
    attempt: int
    #: When it was sent.
    at: str
    #: Null if no answer came.
    status_code: Optional[int]
    #: How long the receiver took.
    duration_ms: int
    #: Why it failed.
    error: Optional[str]
    #: The first 1 KB of the answer.
    response: Optional[str]


class RouteDelivery(TypedDict):
    """An event on its way to a callback."""

    #: `dlv_…`.
    delivery_id: str
    #: `evt_…`.
    event_id: str
    #: Type of the event.
    event_type: str
    #: `dead` after the last attempt failed. One of: pending, delivered, dead, cancelled.
    status: str
    #: How many attempts so far.
    attempts: int
    #: When it is tried again.
    next_attempt_at: Optional[str]
    #: When the event matched.
    created_at: str
    #: When it was delivered or given up.
    finished_at: Optional[str]
    #: Newest first.
    log: List[RouteAttempt]


class RouteDeliveryPage(TypedDict):
    """One page of a list."""

    #: Newest first.
    items: List[RouteDelivery]
    #: Pass as `cursor` for the next page; null on the last.
    next_cursor: Optional[str]


class RouteRetryAnswer(TypedDict):
    """The answer of `POST /v1/routes/{id}/retry`."""

    #: `rte_…`.
    route_id: str
    #: Deliveries due now.
    retried: int
    #: True if there are more: call again.
    more: bool


class RouteTestAnswer(TypedDict):
    """The answer of `POST /v1/routes/{id}/test`."""

    #: The `webhook-id` sent.
    event_id: str
    #: True for a 2xx answer.
    delivered: bool
    #: HTTP status; null if no answer came.
    status_code: Optional[int]
    #: How long the receiver took.
    duration_ms: int
    #: Why it failed.
    error: Optional[str]
    #: The first 1 KB of the answer.
    response: Optional[str]


class AskAnswer(TypedDict):
    """How a request stands."""

    #: `req_…`.
    request_id: str
    #: Only `approved` and `modified` mean yes. One of: pending, approved, denied, modified, needs_context, expired, answered.
    status: str
    #: The chosen option (`modified`) or the answer (`answered`).
    decision: Optional[str]
    #: What the person added.
    comment: Optional[str]
    #: What to do next.
    hint: Optional[str]
    #: Why it ended, where the status doesn't say: taken back, too late, or stopped.
    reason: Optional[str]
    #: `channel:<id>` or `policy:<rule>`.
    decided_by: Optional[str]
    #: As you gave it.
    state_ref: Optional[str]
    #: Without a decision it expires then.
    expires_at: str
    #: While it is pending: when to call `GET /v1/requests/{id}` again.
    poll_after_seconds: Optional[int]
    #: The event waits for the answer.
    parked: NotRequired[bool]
    #: JSON kept as text.
    warnings: NotRequired[List[str]]


class RequestRequestedBy(TypedDict):
    """Who asked."""

    #: The API key.
    key_id: str
    #: The agent, as it calls itself.
    agent: Optional[str]
    #: The agent's platform.
    platform: str


class RequestNotifiedItem(TypedDict):
    #: The channel, `chn_…`.
    channel_id: str
    #: `email` or `telegram`.
    kind: str
    #: Whether the message went out.
    status: str
    #: When it was sent or queued.
    at: Optional[str]


class RequestApprovalsGivenItem(TypedDict):
    #: Who approved.
    channel_id: str
    #: When.
    at: str


class RequestApprovals(TypedDict):
    """For rules that need several people."""

    #: How many people must approve.
    needed: int
    #: Approvals so far.
    given: List[RequestApprovalsGivenItem]


class Request(TypedDict):
    """A question to people, and what became of it."""

    #: `req_…`.
    request_id: str
    #: An approval or a question. One of: approval, question, policy, file_url, email_send, channel, member.
    kind: str
    #: Only `approved` and `modified` mean yes. One of: pending, approved, denied, modified, needs_context, expired, answered.
    status: str
    #: What the agent wants to do, as policies match it.
    action: Optional[str]
    #: The line that people read first.
    summary: str
    #: What people need to decide.
    details: Optional[str]
    #: As the agent stated it.
    risk: Optional[str]
    #: As the agent stated it.
    amount: Optional[float]
    #: What people are warned of, such as another bound amount.
    warnings: List[str]
    #: What was asked, if it is a question.
    question: Optional[str]
    #: Choices offered besides approve and deny.
    options: List[str]
    #: The chosen option (`modified`) or the answer (`answered`).
    decision: Optional[str]
    #: What the person added.
    comment: Optional[str]
    #: What to do next.
    hint: Optional[str]
    #: Why it ended, where the status doesn't say: taken back, too late, or stopped.
    reason: Optional[str]
    #: `channel:<id>` or `policy:<rule>`.
    decided_by: Optional[str]
    #: When it was decided or expired.
    decided_at: Optional[str]
    #: When it was asked.
    created_at: str
    #: Without a decision it expires then.
    expires_at: str
    #: Who asked.
    requested_by: RequestRequestedBy
    #: Channels asked; empty means all active ones.
    approvers: List[str]
    #: Messages sent to people.
    notified: List[RequestNotifiedItem]
    #: The policy that was in force.
    policy_version: int
    #: The policy rule that matched.
    rule: Optional[str]
    #: As the agent gave it.
    state_ref: Optional[str]
    #: Where `request.resolved` is sent.
    callback_url: Optional[str]
    #: The event it is about.
    event_id: Optional[str]
    #: The event of the mail that it answers.
    reply_to_event: Optional[str]
    #: What it belongs to, such as a session.
    thread: Optional[str]
    #: Until when the answer holds for others like it in the thread.
    lasts_until: Optional[str]
    #: The exact values that were shown to people.
    bind: Any
    #: When the approval was used.
    spent_at: Optional[str]
    #: What used it.
    spent_by: Optional[str]
    #: For rules that need several people.
    approvals: RequestApprovals


class RequestPage(TypedDict):
    """One page of a list."""

    #: Newest first.
    items: List[Request]
    #: Pass as `cursor` for the next page; null on the last.
    next_cursor: Optional[str]


class RequestReceivedAnswer(TypedDict):
    """The answer of `POST /v1/requests/{id}/received`."""

    #: `req_…`.
    request_id: str
    #: False if no event was left to close.
    closed: bool
    #: The event that is done now.
    event_id: Optional[str]


class RequestWithdrawAnswer(TypedDict):
    """The answer of `POST /v1/requests/{id}/withdraw`."""

    #: `req_…`.
    request_id: str
    #: How it stands now. One of: pending, approved, denied, modified, needs_context, expired, answered.
    status: str
    #: False if it was decided before.
    withdrawn: bool
    #: Why it ended.
    hint: Optional[str]


class RequestUseAnswer(TypedDict):
    """The answer of `POST /v1/requests/{id}/use`."""

    #: `req_…`.
    request_id: str
    #: It was a yes. One of: approved, modified.
    status: str
    #: The chosen option.
    decision: Optional[str]
    #: What the person added.
    comment: Optional[str]
    #: When it was used.
    spent_at: str
    #: What used it.
    spent_by: str


class RequestCallbackSecretAnswer(TypedDict):
    """The answer of `POST /v1/request-callback-secret`."""

    #: Receivers check signatures with it; shown only once.
    secret: str
    #: When it was created.
    created_at: str
    #: When the old secret stops signing.
    previous_valid_until: Optional[str]


class Channel(TypedDict):
    """A person who can be asked, by mail or Telegram."""

    #: `chn_…`.
    id: str
    #: How the person is reached. One of: email, telegram.
    kind: str
    #: A short name.
    label: str
    #: Masked; null for Telegram.
    address: Optional[str]
    #: Only an active channel is asked. One of: added, verified, active, removed.
    status: str
    #: Whether it is the owner's.
    owner: bool
    #: When it was added.
    created_at: str
    #: Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`.
    created_by: Optional[str]
    #: The same for people: a key’s name, a masked address, or `unknown`.
    maker: str
    #: When the person confirmed the address.
    verified_at: Optional[str]
    #: When the owner approved it.
    activated_at: Optional[str]
    #: When a person last decided through it.
    last_used_at: Optional[str]
    #: Whose an owner said it is: another channel of the person, or this one if they have no other.
    person_of: Optional[str]


class ChannelPage(TypedDict):
    """One page of a list."""

    #: The owner's channel first.
    items: List[Channel]
    #: Always null: the list has one page.
    next_cursor: Optional[str]


class ChannelAddAnswer(TypedDict):
    """The answer of `POST /v1/channels`."""

    channel: Channel
    #: Email: the masked address.
    verification_sent_to: NotRequired[str]
    #: Telegram: the person opens it and taps Start.
    start_url: NotRequired[str]
    #: When the link expires.
    expires_at: str


class ChannelRemoveAnswer(TypedDict):
    """The answer of `DELETE /v1/channels/{id}`."""

    #: `chn_…`.
    id: str
    #: Its links and buttons no longer work.
    status: str
    #: When it was removed.
    removed_at: str


class Member(TypedDict):
    """A person who shares the project."""

    #: `mbr_…`.
    id: str
    #: What they may do and decide. One of: owner, admin, member, approver, viewer.
    role: str
    #: Masked.
    address: Optional[str]
    #: `asked`: an owner must approve the invitation first. One of: asked, invited, active, removed.
    status: str
    #: Where they are asked; null if they decide nothing.
    channel_id: Optional[str]
    #: The key or the member that invited them.
    invited_by: Optional[str]
    #: The same for people; null for who founded the project.
    inviter: Optional[str]
    #: When they were invited.
    created_at: str
    #: When the invitation expires; null if it has none.
    expires_at: Optional[str]
    #: When they accepted.
    joined_at: Optional[str]


class MemberPage(TypedDict):
    """One page of a list."""

    #: Owners first.
    items: List[Member]
    #: Always null: a project has few members.
    next_cursor: Optional[str]


class MemberInviteAnswer(TypedDict):
    """The answer of `POST /v1/members`."""

    member: Member
    #: The request that an owner decides first.
    request_id: Optional[str]


class MemberRoleAnswer(TypedDict):
    """The answer of `POST /v1/members/{id}/role`."""

    member: Member
    #: The request that an owner decides first.
    request_id: Optional[str]


class MemberRemoveAnswer(TypedDict):
    """The answer of `DELETE /v1/members/{id}`."""

    #: The member.
    id: str
    #: Null while an owner must decide first.
    removed_at: Optional[str]
    #: The keys that ended.
    revoked_keys: List[str]
    #: Those that they or their keys added.
    removed_channels: List[str]
    #: What ended with it.
    ended: List[MadeThing]
    #: What goes on, each with how to end it.
    left: List[LeftThing]
    #: The request that an owner decides first.
    request_id: Optional[str]


class ProjectRenameAnswerProject(TypedDict):
    """The project."""

    #: `prj_…`.
    id: str
    #: Part of addresses and links.
    slug: str
    #: The new name, or the old one until an owner allows it.
    name: str


class ProjectRenameAnswer(TypedDict):
    """The answer of `PUT /v1/project`."""

    #: The project.
    project: ProjectRenameAnswerProject
    #: The request that an owner decides first.
    request_id: Optional[str]


class ProjectDeleteAnswer(TypedDict):
    """The answer of `DELETE /v1/project`."""

    #: False if an owner decides first.
    deleted: bool
    #: The request that an owner decides first.
    request_id: Optional[str]


PolicyRuleBindValue = TypedDict("PolicyRuleBindValue", {
    #: Any of these.
    "in": "NotRequired[List[Union[str, float, bool]]]",
    #: A text that begins so.
    "prefix": "NotRequired[str]",
    #: More than this, without its sign.
    "gt": "NotRequired[float]",
    #: At most this, without its sign.
    "lte": "NotRequired[float]",
    #: A shell line of these commands, `git log *` with any further words: only these for effects that let it pass, one of these for others.
    "command": "NotRequired[List[str]]",
    #: A path in one of these folders. Links are not followed.
    "under": "NotRequired[List[str]]",
})


class PolicyRule(TypedDict):
    """A rule in normal form: with an id, and lists where callers may write a single value."""

    #: Its name in answers and in the ledger.
    id: str
    #: What happens if the rule decides. One of: allow, deny, require_approval, auto_approve, auto_approve_notify.
    effect: str
    #: Any of these: exact, or a prefix and `*`.
    action: NotRequired[List[str]]
    #: Any of these tools.
    tool: NotRequired[List[str]]
    #: The amount is at most this, without its sign.
    amount_lte: NotRequired[float]
    #: The amount is more than this, without its sign.
    amount_gt: NotRequired[float]
    #: Where bound values have the amount, as a JSON pointer (default `/amount`).
    amount_at: NotRequired[str]
    #: Any of these.
    risk: NotRequired[List[str]]
    #: Tests of bound values, by JSON pointer. A missing value never fits.
    bind: NotRequired[Dict[str, PolicyRuleBindValue]]
    #: `example.com`, `*.example.com`: every recipient for effects that let a mail pass, any recipient for others.
    recipient_domains: NotRequired[List[str]]
    #: Channels that are asked.
    approvers: NotRequired[List[str]]
    #: How many people must approve.
    approvals: NotRequired[int]
    #: For people.
    description: NotRequired[str]


class Policy(TypedDict):
    """The policy in force."""

    #: Rises with each change; 0 means no policy.
    version: int
    #: The first rule whose conditions all match decides.
    rules: List[PolicyRule]
    #: What the agent said about the change.
    note: Optional[str]
    #: The channel that approved it.
    approved_by: Optional[str]
    #: When it came into force.
    approved_at: Optional[str]


class PolicySetPolicyRulesItem(TypedDict):
    #: Made up if omitted.
    id: NotRequired[str]
    #: `require_approval`: a person decides. `auto_approve_notify`: approved, and people are told. One of: allow, deny, require_approval, auto_approve, auto_approve_notify.
    effect: str
    #: Exact, or a prefix and `*`.
    action: NotRequired[Union[str, List[str]]]
    #: For links and mails, which have no action.
    tool: NotRequired[Union[str, List[str]]]
    #: Without its sign.
    amount_gt: NotRequired[float]
    #: Without its sign.
    amount_lte: NotRequired[float]
    #: Default `/amount`.
    amount_at: NotRequired[str]
    #: As stated by the agent.
    risk: NotRequired[Union[str, List[str]]]
    #: `{"/currency":"EUR","/fee":{"lte":5}}`.
    bind: NotRequired[Dict[str, Any]]
    #: `example.com`, `*.example.com`.
    recipient_domains: NotRequired[List[str]]
    #: Channels to ask.
    approvers: NotRequired[List[str]]
    #: How many must approve.
    approvals: NotRequired[int]
    #: For people.
    description: NotRequired[str]


class PolicySetPolicy(TypedDict):
    """The whole document, `{"rules": […]}`."""

    #: The first rule whose conditions all match decides; a rule without conditions matches everything.
    rules: List[PolicySetPolicyRulesItem]


class PolicySetAnswerWarningsItem(TypedDict):
    #: Id of the rule.
    rule: str
    #: What is wrong with it.
    message: str


class PolicySetAnswer(TypedDict):
    """The answer of `PUT /v1/policy`."""

    #: `req_…`.
    request_id: str
    #: Only `approved` and `modified` mean yes. One of: pending, approved, denied, modified, needs_context, expired, answered.
    status: str
    #: The chosen option (`modified`) or the answer (`answered`).
    decision: Optional[str]
    #: What the person added.
    comment: Optional[str]
    #: What to do next.
    hint: Optional[str]
    #: Why it ended, where the status doesn't say: taken back, too late, or stopped.
    reason: Optional[str]
    #: `channel:<id>` or `policy:<rule>`.
    decided_by: Optional[str]
    #: As you gave it.
    state_ref: Optional[str]
    #: Without a decision it expires then.
    expires_at: str
    #: While it is pending: when to call `GET /v1/requests/{id}` again.
    poll_after_seconds: Optional[int]
    #: Rules that can never decide, and the like.
    warnings: List[PolicySetAnswerWarningsItem]


class PolicyTestPolicyRulesItem(TypedDict):
    #: Made up if omitted.
    id: NotRequired[str]
    #: `require_approval`: a person decides. `auto_approve_notify`: approved, and people are told. One of: allow, deny, require_approval, auto_approve, auto_approve_notify.
    effect: str
    #: Exact, or a prefix and `*`.
    action: NotRequired[Union[str, List[str]]]
    #: For links and mails, which have no action.
    tool: NotRequired[Union[str, List[str]]]
    #: Without its sign.
    amount_gt: NotRequired[float]
    #: Without its sign.
    amount_lte: NotRequired[float]
    #: Default `/amount`.
    amount_at: NotRequired[str]
    #: As stated by the agent.
    risk: NotRequired[Union[str, List[str]]]
    #: `{"/currency":"EUR","/fee":{"lte":5}}`.
    bind: NotRequired[Dict[str, Any]]
    #: `example.com`, `*.example.com`.
    recipient_domains: NotRequired[List[str]]
    #: Channels to ask.
    approvers: NotRequired[List[str]]
    #: How many must approve.
    approvals: NotRequired[int]
    #: For people.
    description: NotRequired[str]


class PolicyTestPolicy(TypedDict):
    """The whole document, `{"rules": […]}`."""

    #: The first rule whose conditions all match decides; a rule without conditions matches everything.
    rules: List[PolicyTestPolicyRulesItem]


class PolicyTestAnswerTraceItemFailedItem(TypedDict):
    #: The condition.
    field: str
    #: What it requires.
    wanted: str
    #: What the call has.
    given: str


class PolicyTestAnswerTraceItem(TypedDict):
    #: Id of the rule.
    rule: str
    #: What it would do. One of: allow, deny, require_approval, auto_approve, auto_approve_notify.
    effect: str
    #: The rule in words.
    says: str
    #: Whether its conditions hold.
    matched: bool
    #: Whether it is the first that matches.
    decides: bool
    #: Conditions that do not hold.
    failed: List[PolicyTestAnswerTraceItemFailedItem]


class PolicyTestAnswer(TypedDict):
    """The answer of `POST /v1/policy/test`."""

    #: Null if you passed a document.
    version: Optional[int]
    #: What would happen. One of: allow, deny, require_approval, auto_approve, auto_approve_notify.
    effect: str
    #: The rule that decides; null if none matches, so a person decides.
    rule: Optional[str]
    #: The same in words.
    sentence: str
    #: Each rule in order.
    trace: List[PolicyTestAnswerTraceItem]


class PolicyDiffPolicyRulesItem(TypedDict):
    #: Made up if omitted.
    id: NotRequired[str]
    #: `require_approval`: a person decides. `auto_approve_notify`: approved, and people are told. One of: allow, deny, require_approval, auto_approve, auto_approve_notify.
    effect: str
    #: Exact, or a prefix and `*`.
    action: NotRequired[Union[str, List[str]]]
    #: For links and mails, which have no action.
    tool: NotRequired[Union[str, List[str]]]
    #: Without its sign.
    amount_gt: NotRequired[float]
    #: Without its sign.
    amount_lte: NotRequired[float]
    #: Default `/amount`.
    amount_at: NotRequired[str]
    #: As stated by the agent.
    risk: NotRequired[Union[str, List[str]]]
    #: `{"/currency":"EUR","/fee":{"lte":5}}`.
    bind: NotRequired[Dict[str, Any]]
    #: `example.com`, `*.example.com`.
    recipient_domains: NotRequired[List[str]]
    #: Channels to ask.
    approvers: NotRequired[List[str]]
    #: How many must approve.
    approvals: NotRequired[int]
    #: For people.
    description: NotRequired[str]


class PolicyDiffPolicy(TypedDict):
    """The whole document, `{"rules": […]}`."""

    #: The first rule whose conditions all match decides; a rule without conditions matches everything.
    rules: List[PolicyDiffPolicyRulesItem]


class PolicyDiffAnswerWarningsItem(TypedDict):
    #: Id of the rule.
    rule: str
    #: What is wrong with it.
    message: str


class PolicyDiffAnswer(TypedDict):
    """The answer of `POST /v1/policy/diff`."""

    #: The version compared with.
    version: int
    #: False if nothing would change.
    changed: bool
    #: `+ …` added, `- …` removed, `  …` unchanged.
    lines: List[str]
    #: Rules that can never decide, and the like.
    warnings: List[PolicyDiffAnswerWarningsItem]


class PolicySuggestion(TypedDict):
    """A rule that would decide what people always approved."""

    #: The action that people always approved.
    action: str
    #: All requests for this action that people decided.
    approved: int
    #: Counted from this time.
    since: str
    #: The oldest of them.
    first_at: str
    #: The newest of them.
    last_at: str
    #: How many people, as far as they are surely different.
    by: int
    rule: PolicyRule
    #: The rule to put it before. Null: it goes to the end.
    before: Optional[str]
    #: The newest requests.
    examples: List[str]


class PolicySuggestAnswer(TypedDict):
    """The answer of `GET /v1/policy/suggestions`."""

    #: Rules that would save people work.
    items: List[PolicySuggestion]


class KvKey(TypedDict):
    """A key; with its value only if asked for."""

    #: The key.
    key: str
    #: Size of the stored JSON.
    size_bytes: int
    #: When the key ends; null means never.
    expires_at: Optional[str]
    #: When it was last written.
    updated_at: str
    #: Rises with each write; pass as `if_version`.
    version: int
    #: The stored JSON, if `values` was asked for.
    value: NotRequired[Any]


class KvKeyPage(TypedDict):
    """One page of a list."""

    #: In byte order.
    items: List[KvKey]
    #: Pass as `cursor` for the next page; null on the last.
    next_cursor: Optional[str]


class KvEntry(TypedDict):
    """A key with its value."""

    #: The key.
    key: str
    #: The stored JSON.
    value: Any
    #: When the key ends; null means never.
    expires_at: Optional[str]
    #: When it was last written.
    updated_at: str
    #: Rises with each write; pass as `if_version`.
    version: int


class KvSetAnswer(TypedDict):
    """The answer of `PUT /v1/kv/{key}`."""

    #: The key.
    key: str
    #: Size of the stored JSON.
    size_bytes: int
    #: When the key ends; null means never.
    expires_at: Optional[str]
    #: Rises with each write; pass as `if_version`.
    version: int
    #: JSON kept as text.
    warnings: NotRequired[List[str]]


class KvIncrAnswer(TypedDict):
    """The answer of `POST /v1/kv-incr`."""

    #: The key.
    key: str
    #: The value after adding.
    value: int
    #: When the key ends; null means never.
    expires_at: Optional[str]
    #: Rises with each write; pass as `if_version`.
    version: int


class KvTouchAnswer(TypedDict):
    """The answer of `POST /v1/kv-touch`."""

    #: The key.
    key: str
    #: When the key ends; null means never.
    expires_at: Optional[str]
    #: Unchanged by this call.
    version: int


class KvMgetAnswer(TypedDict):
    """The answer of `POST /v1/kv-mget`."""

    #: In the order of `keys`; null where a key is missing or expired.
    items: List[Optional[KvEntry]]


class KvDeleteAnswer(TypedDict):
    """The answer of `DELETE /v1/kv/{key}`."""

    #: False if there was no such key.
    deleted: bool


class TaskState(TypedDict):
    """The saved state of a task."""

    #: The task.
    task_id: str
    #: As it was saved.
    state: Any
    #: What the agent said about it.
    note: Optional[str]
    #: When it was saved.
    saved_at: str
    #: Rises with each write; pass as `if_version`.
    version: int


class StateSaveAnswer(TypedDict):
    """The answer of `PUT /v1/state/{task_id}`."""

    #: The task.
    task_id: str
    #: Where `GET /v1/kv/{key}` finds it: `state/<task_id>`.
    key: str
    #: When it was saved.
    saved_at: str
    #: Rises with each write; pass as `if_version`.
    version: int
    #: JSON kept as text.
    warnings: NotRequired[List[str]]


class StateVersion(TypedDict):
    """An earlier version of a state."""

    #: Which version.
    version: int
    #: When it was saved.
    saved_at: str
    #: Size of the state.
    size_bytes: int
    #: What the agent said about it.
    note: Optional[str]
    #: The key that saved it.
    key_id: Optional[str]
    #: The agent that saved it, as it calls itself.
    agent: Optional[str]


class StateHistoryAnswer(TypedDict):
    """The answer of `GET /v1/state-history/{task_id}`."""

    #: The task.
    task_id: str
    #: Newest first.
    items: List[StateVersion]


class File(TypedDict):
    """A stored file, without its bytes."""

    #: Where it is stored.
    path: str
    #: `disk://…`, accepted wherever a path is.
    ref: str
    #: Size of the file.
    size_bytes: int
    #: Media type.
    content_type: str
    #: When it was last written.
    updated_at: str
    #: SHA-256 of the bytes, in hex.
    sha256: str
    #: Rises with each write; pass as `if_version`.
    version: int


class FilePage(TypedDict):
    """One page of a list."""

    #: In byte order of their paths.
    items: List[File]
    #: Pass as `cursor` for the next page; null on the last.
    next_cursor: Optional[str]


class FileGetAnswer(TypedDict):
    """The answer of `GET /v1/files/{path}`."""

    #: Where it is stored.
    path: str
    #: `disk://…`, accepted wherever a path is.
    ref: str
    #: Size of the file.
    size_bytes: int
    #: Media type.
    content_type: str
    #: When it was last written.
    updated_at: str
    #: SHA-256 of the bytes, in hex.
    sha256: str
    #: Rises with each write; pass as `if_version`.
    version: int
    #: The bytes, up to 1 MB.
    content_base64: NotRequired[str]
    #: The text, up to 1 MB, if it was asked for.
    content: NotRequired[str]
    #: Above 1 MB: a link to the bytes, valid for 5 minutes without a key.
    download_url: NotRequired[str]
    #: When the link ends.
    expires_at: NotRequired[str]


class FilePutUpload(TypedDict):
    """Get a URL to PUT up to 100 MB to."""

    #: Exact size in bytes.
    size: int
    #: Its media type.
    content_type: NotRequired[str]


class FilePutAnswer(TypedDict):
    """The answer of `PUT /v1/files/{path}`."""

    #: Where it is stored.
    path: NotRequired[str]
    #: `disk://…`, accepted wherever a path is.
    ref: NotRequired[str]
    #: Size of the file.
    size_bytes: NotRequired[int]
    #: Media type.
    content_type: NotRequired[str]
    #: When it was last written.
    updated_at: NotRequired[str]
    #: SHA-256 of the bytes, in hex.
    sha256: NotRequired[str]
    #: Rises with each write; pass as `if_version`.
    version: NotRequired[int]
    #: Only when an upload was opened.
    status: NotRequired[str]
    #: Pass it as `complete`.
    upload_id: NotRequired[str]
    #: PUT the bytes here; no key needed.
    upload_url: NotRequired[str]
    #: Send exactly these headers.
    upload_headers: NotRequired[Dict[str, str]]
    #: When the upload ends.
    expires_at: NotRequired[str]


class FileDeleteAnswer(TypedDict):
    """The answer of `DELETE /v1/files/{path}`."""

    #: False if there was no such file.
    deleted: bool


class FileUrlAnswer(TypedDict):
    """The answer of `POST /v1/file-urls`."""

    #: The public link; works without a key.
    url: NotRequired[str]
    #: When the link ends.
    expires_at: NotRequired[str]
    #: The link, for the ledger.
    link_id: NotRequired[str]
    #: Without a link: how the request to people stands. One of: pending, denied, needs_context, expired.
    status: NotRequired[str]
    #: Pass it as `approval` once it is approved.
    request_id: NotRequired[str]
    #: What the person added.
    comment: NotRequired[Optional[str]]


class EmailMessageError(TypedDict):
    """What went wrong, for good or until the next attempt."""

    #: `delayed` until the next attempt; otherwise why it failed.
    code: str
    #: The reason in words.
    message: str


class EmailMessage(TypedDict):
    """A mail to one recipient."""

    #: `msg_…`; replies name it in `reply_to`.
    message_id: str
    #: The recipient.
    to: str
    #: Missing for an address in `to`. One of: cc, bcc.
    copy: NotRequired[str]
    #: How the delivery stands. One of: queued, pending, sent, failed, bounced, cancelled.
    status: str
    #: What went wrong, for good or until the next attempt.
    error: NotRequired[EmailMessageError]


class EmailSendAnswer(TypedDict):
    """The answer of `POST /v1/emails`."""

    #: `pending`: a person has to approve. `queued`: on its way. `cancelled`: refused. One of: queued, pending, cancelled.
    status: str
    #: `bat_…`: this call.
    batch_id: str
    #: The request to people, if the policy asked them.
    request_id: Optional[str]
    #: The conversation it belongs to.
    thread_id: Optional[str]
    #: One per recipient.
    messages: List[EmailMessage]


EmailStatusAnswer = TypedDict("EmailStatusAnswer", {
    #: `sent` once the last attempt is over, if any message went out. One of: queued, pending, cancelled, sent, failed.
    "status": "str",
    #: `bat_…`: this call.
    "batch_id": "str",
    #: The request to people, if the policy asked them.
    "request_id": "Optional[str]",
    #: The conversation it belongs to.
    "thread_id": "Optional[str]",
    #: One per recipient.
    "messages": "List[EmailMessage]",
    #: As it was sent.
    "subject": "str",
    #: The project's address.
    "from": "str",
    #: When it was sent or asked for.
    "created_at": "str",
})


class UsageAnswerDisk(TypedDict):
    """Stored bytes."""

    #: All together.
    used_bytes: int
    #: What the project may store.
    limit_bytes: int
    #: Of keys and state.
    key_bytes: int
    #: Of files.
    file_bytes: int
    #: Reserved by open uploads.
    upload_bytes: int


class UsageAnswerKeys(TypedDict):
    """Keys of the key-value store."""

    #: How many there are.
    used: int
    #: How many there may be.
    limit: int


class UsageAnswerTransfer(TypedDict):
    """Downloads."""

    #: `2026-01`.
    month: str
    #: Downloaded this month.
    used_bytes: int
    #: What may be downloaded in a month.
    limit_bytes: int
    #: When the month ends.
    resets_at: str


class UsageAnswerEmails(TypedDict):
    """Mails sent."""

    #: Sent today.
    today: int
    #: What may be sent in a day.
    day_limit: int
    #: Sent this month.
    this_month: int
    #: What may be sent in a month.
    month_limit: int
    #: Why sending is blocked, or null.
    blocked: Optional[str]


class UsageAnswerEventsSourceLimits(TypedDict):
    """The limits of each source; null means none."""

    #: What a source may store.
    stored_bytes: Optional[int]
    #: How many events it may send in a minute.
    events_per_minute: Optional[int]
    #: How much it may send in ten minutes.
    bytes_per_10_minutes: Optional[int]


class UsageAnswerEventsSourcesItem(TypedDict):
    #: The source's name.
    name: str
    #: What its events count.
    stored_bytes: int
    #: Events of the current minute.
    events_this_minute: int
    #: Stored in the current ten minutes.
    bytes_these_10_minutes: int
    #: The limit that the source has reached, or null.
    limited: Optional[str]


class UsageAnswerEvents(TypedDict):
    """What sources store and send."""

    #: Payloads, headers and attachments of events, and 2 KB each, until their purge.
    stored_bytes: int
    #: What the project may store; null means no limit.
    limit_bytes: Optional[int]
    #: The limits of each source; null means none.
    source_limits: UsageAnswerEventsSourceLimits
    #: Each source with what it stores and sends.
    sources: List[UsageAnswerEventsSourcesItem]
    #: Mails kept as dead events: each has the Message-ID of another mail. Up to 1,000.
    set_aside: int


class UsageAnswerReplicaLog(TypedDict):
    """The log kept for members' replicas that were away; in no quota."""

    #: What it takes on the disk of the server.
    stored_bytes: int
    #: What it may take; its newest part, 16 MB or so, may exceed that.
    limit_bytes: int


class UsageAnswer(TypedDict):
    """The answer of usage."""

    #: Stored bytes.
    disk: UsageAnswerDisk
    #: Keys of the key-value store.
    keys: UsageAnswerKeys
    #: Downloads.
    transfer: UsageAnswerTransfer
    #: Mails sent.
    emails: UsageAnswerEmails
    #: What sources store and send.
    events: UsageAnswerEvents
    #: The log kept for members' replicas that were away; in no quota.
    replica_log: UsageAnswerReplicaLog


class StoryAnswerEvent(TypedDict):
    """Where it began."""

    #: `evt_…`.
    id: str
    #: Name of the source.
    source: str
    #: `webhook` or `email` for received events.
    channel: str
    #: What happened.
    type: str
    #: When it arrived.
    received_at: str
    #: Whether the signature was checked.
    verified: bool
    #: Where it is in the queue. One of: pending, claimed, done, failed, dead, waiting.
    status: str


class LedgerEntry(TypedDict):
    """One entry of the hash-chained record."""

    #: Position in the chain, from 1.
    seq: int
    #: When it happened.
    at: str
    #: The operation, such as `inbox_ack`.
    op: str
    #: Who did it: the id of a key, a person's channel, a member or a source; `policy:<rule>`, `operator` or `service`. Null in entries from before this was recorded.
    actor: Optional[str]
    #: The agent, as it calls itself.
    agent: Optional[str]
    #: The agent's platform; for people `web`, `link` or `telegram`.
    platform: Optional[str]
    #: The API key, if one did it.
    key_id: Optional[str]
    #: Id of the object it touched.
    subject: Optional[str]
    #: X-Request-Id of the call.
    request_id: Optional[str]
    #: Whether it succeeded. One of: ok, error.
    outcome: str
    #: The error code, if it failed.
    code: Optional[str]
    #: SHA-256 of the input.
    input_digest: Optional[str]
    #: SHA-256 of the answer.
    result_digest: Optional[str]
    #: `hash` of the entry before.
    prev_hash: str
    #: SHA-256 over the entry and `prev_hash`.
    hash: str


class StoryAnswerOpeningsItem(TypedDict):
    #: The entry.
    seq: int
    #: What was hashed before the value.
    salt: str
    #: What was hashed.
    value: Any


class StoryAnswer(TypedDict):
    """The answer of story."""

    #: Where it began.
    event: StoryAnswerEvent
    #: What people were asked about it.
    requests: List[Dict[str, Any]]
    #: Ledger entries about it, oldest first.
    entries: List[LedgerEntry]
    #: Proof that values belong to digests in the entries.
    openings: List[StoryAnswerOpeningsItem]
    #: What the keys and people of the entries are called, by id.
    names: Dict[str, str]


class LedgerEntryPage(TypedDict):
    """One page of a list."""

    #: Newest first.
    items: List[LedgerEntry]
    #: Pass as `cursor` for the next page; null on the last.
    next_cursor: Optional[int]


class LedgerVerifyAnswerHead(TypedDict):
    #: Its position.
    seq: int
    #: Its hash: keep it, to notice later changes.
    hash: str
    #: When it was written.
    at: str


class LedgerVerifyAnswer(TypedDict):
    """The answer of `POST /v1/ledger/verify`."""

    #: Whether the chain is intact.
    ok: bool
    #: First entry checked.
    from_seq: int
    #: Last entry checked.
    to_seq: int
    #: How many entries.
    checked: int
    #: Whether it started at entry 1; otherwise it trusts the stored hash before it.
    anchored: bool
    #: The first entry that does not fit.
    first_bad_seq: Optional[int]
    #: What does not fit.
    reason: Optional[str]
    #: The newest entry of the chain.
    head: Optional[LedgerVerifyAnswerHead]
