# Written by `npm run surface` from the operations. Do not edit.
"""What the operations take and answer. A newer server may answer more fields and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class WhoamiAnswerProject(TypedDict):
    id: str
    slug: str
    name: str


class WhoamiAnswerKey(TypedDict):
    id: str
    name: str
    scopes: List[str]
    disk_prefixes: Optional[List[str]]
    expires_at: Optional[str]


class WhoamiAnswerAgent(TypedDict):
    label: Optional[str]
    platform: str
    #: One of: header, hello, mcp_client_info, user_agent, none.
    source: str


class WhoamiAnswerUrls(TypedDict):
    api: str
    mcp: str
    hooks: str


class WhoamiAnswerServer(TypedDict):
    version: str
    channels: List[str]


class WhoamiAnswer(TypedDict):
    project: WhoamiAnswerProject
    key: WhoamiAnswerKey
    scopes: List[str]
    agent: WhoamiAnswerAgent
    urls: WhoamiAnswerUrls
    server: WhoamiAnswerServer


class SessionHelloAnswer(TypedDict):
    agent: str
    platform: str
    started_at: str


class Key(TypedDict):
    id: str
    name: str
    last4: str
    scopes: List[str]
    #: The only names on the disk that the key may use start with these. Null: all.
    disk_prefixes: Optional[List[str]]
    created_at: str
    created_by: Optional[str]
    last_used_at: Optional[str]
    expires_at: Optional[str]
    revoked_at: Optional[str]
    #: The host of the app that a person let in by OAuth; null for other keys.
    client: Optional[str]


class KeyPage(TypedDict):
    items: List[Key]
    next_cursor: Optional[str]


class NewKey(TypedDict):
    id: str
    name: str
    last4: str
    scopes: List[str]
    #: The only names on the disk that the key may use start with these. Null: all.
    disk_prefixes: Optional[List[str]]
    created_at: str
    created_by: Optional[str]
    last_used_at: Optional[str]
    expires_at: Optional[str]
    revoked_at: Optional[str]
    #: The host of the app that a person let in by OAuth; null for other keys.
    client: Optional[str]
    #: The secret, shown only once.
    api_key: str


class KeyRevokeAnswer(TypedDict):
    id: str
    revoked_at: str


class SourceWithCountsLimited(TypedDict):
    #: One of: source_bytes, project_bytes, events_per_minute, bytes_per_10_minutes.
    kind: str
    limit: int
    used: int
    retry_after: int


class SourceWithCounts(TypedDict):
    name: str
    #: One of: webhook, email.
    type: str
    #: One of: stripe, github, hmac_sha256, standard_webhooks, none.
    verification: str
    signature_header: Optional[str]
    url: Optional[str]
    address: Optional[str]
    created_at: str
    previous_secret_valid_until: Optional[str]
    last_event_at: Optional[str]
    events_24h: int
    rejected_24h: int
    stored_bytes: int
    limited: Optional[SourceWithCountsLimited]


class SourceWithCountsPage(TypedDict):
    items: List[SourceWithCounts]
    next_cursor: None


class Source(TypedDict):
    name: str
    #: One of: webhook, email.
    type: str
    #: One of: stripe, github, hmac_sha256, standard_webhooks, none.
    verification: str
    signature_header: Optional[str]
    url: Optional[str]
    address: Optional[str]
    created_at: str
    previous_secret_valid_until: Optional[str]


class SourceRemoveAnswer(TypedDict):
    name: str
    removed_at: str


class SourceRotateAnswer(TypedDict):
    name: str
    #: One of: stripe, github, hmac_sha256, standard_webhooks, none.
    verification: str
    rotated_at: str
    #: When the old secret stops working.
    previous_valid_until: Optional[str]


class SourceSignAnswer(TypedDict):
    url: str
    headers: Dict[str, str]


class Attachment(TypedDict):
    name: str
    content_type: str
    size_bytes: int
    content_id: Optional[str]
    inline: bool
    sha256: str
    url: NotRequired[str]
    url_expires_at: NotRequired[str]


class BlockedAttachment(TypedDict):
    name: str
    content_type: str
    size_bytes: int
    #: One of: executable, encrypted_archive, too_large, too_many.
    reason: str


class EventWaitingForItem(TypedDict):
    id: str
    status: str
    expires_at: str


class Event(TypedDict):
    id: str
    project: str
    source: str
    channel: str
    type: str
    received_at: str
    verified: bool
    #: One of: external_untrusted, service.
    trust: str
    suspected_replay: bool
    reply_to: Optional[str]
    headers: NotRequired[Dict[str, str]]
    payload: Any
    payload_url: Optional[str]
    payload_truncated: bool
    payload_purged: bool
    thread_id: NotRequired[Optional[str]]
    html_url: NotRequired[Optional[str]]
    attachments: NotRequired[List[Attachment]]
    attachments_blocked: NotRequired[List[BlockedAttachment]]
    #: One of: pending, claimed, done, failed, dead, waiting.
    status: str
    attempts: int
    retry_at: Optional[str]
    waiting_for: NotRequired[List[EventWaitingForItem]]
    parked_at: NotRequired[str]
    wakes_at: NotRequired[str]


class EventPage(TypedDict):
    items: List[Event]
    next_cursor: Optional[str]
    warnings: NotRequired[List[str]]


class InboxWaitAnswer(TypedDict):
    event: Optional[Event]
    warnings: NotRequired[List[str]]


class EventWithResultWaitingForItem(TypedDict):
    id: str
    status: str
    expires_at: str


class EventWithResult(TypedDict):
    id: str
    project: str
    source: str
    channel: str
    type: str
    received_at: str
    verified: bool
    #: One of: external_untrusted, service.
    trust: str
    suspected_replay: bool
    reply_to: Optional[str]
    headers: NotRequired[Dict[str, str]]
    payload: Any
    payload_url: Optional[str]
    payload_truncated: bool
    payload_purged: bool
    thread_id: NotRequired[Optional[str]]
    html_url: NotRequired[Optional[str]]
    attachments: NotRequired[List[Attachment]]
    attachments_blocked: NotRequired[List[BlockedAttachment]]
    #: One of: pending, claimed, done, failed, dead, waiting.
    status: str
    attempts: int
    retry_at: Optional[str]
    waiting_for: NotRequired[List[EventWithResultWaitingForItem]]
    parked_at: NotRequired[str]
    wakes_at: NotRequired[str]
    #: The result from `POST /v1/inbox/ack`, or null.
    result: Any
    #: The reason of the latest `POST /v1/inbox/nack`.
    reason: Optional[str]


class ClaimedEventWaitingForItem(TypedDict):
    id: str
    status: str
    expires_at: str


class ResumedWaitedForItem(TypedDict):
    id: str
    status: str


class ResumedAnswersItem(TypedDict):
    request_id: str
    status: str
    decision: Optional[str]
    comment: Optional[str]
    decided_by: Optional[str]
    decided_at: Optional[str]


class Resumed(TypedDict):
    parks: int
    #: What woke it: an id, a time, or `requeued`.
    because: str
    waited_for: List[ResumedWaitedForItem]
    answers: List[ResumedAnswersItem]
    state: Any


class ClaimedEvent(TypedDict):
    id: str
    project: str
    source: str
    channel: str
    type: str
    received_at: str
    verified: bool
    #: One of: external_untrusted, service.
    trust: str
    suspected_replay: bool
    reply_to: Optional[str]
    headers: NotRequired[Dict[str, str]]
    payload: Any
    payload_url: Optional[str]
    payload_truncated: bool
    payload_purged: bool
    thread_id: NotRequired[Optional[str]]
    html_url: NotRequired[Optional[str]]
    attachments: NotRequired[List[Attachment]]
    attachments_blocked: NotRequired[List[BlockedAttachment]]
    #: One of: pending, claimed, done, failed, dead, waiting.
    status: str
    attempts: int
    retry_at: Optional[str]
    waiting_for: NotRequired[List[ClaimedEventWaitingForItem]]
    parked_at: NotRequired[str]
    wakes_at: NotRequired[str]
    lease_id: str
    lease_expires_at: str
    resumed: NotRequired[Resumed]


class InboxAckAnswer(TypedDict):
    event_id: str
    status: str
    acked_at: str


class InboxNackAnswerWaitingForItem(TypedDict):
    id: str
    status: str
    expires_at: str


class InboxNackAnswer(TypedDict):
    event_id: str
    #: One of: failed, dead, waiting, pending.
    status: str
    attempts: int
    parks: NotRequired[int]
    waiting_for: NotRequired[List[InboxNackAnswerWaitingForItem]]
    wakes_at: NotRequired[str]
    retry_at: Optional[str]


class InboxExtendAnswer(TypedDict):
    event_id: str
    lease_id: str
    lease_expires_at: str


class InboxRequeueAnswer(TypedDict):
    event_id: str
    status: str


class InboxReplayAnswerSkippedItem(TypedDict):
    event_id: str
    reason: str


class InboxReplayAnswer(TypedDict):
    event_ids: List[str]
    skipped: List[InboxReplayAnswerSkippedItem]
    next_cursor: Optional[str]


class InboxNextAnswer(TypedDict):
    items: List[ClaimedEvent]
    warnings: NotRequired[List[str]]


class RouteWithCounts(TypedDict):
    id: str
    callback_url: str
    match_source: Optional[str]
    match_type: Optional[str]
    #: False after a 410 Gone answer or `POST /v1/routes/{id}/disable`.
    enabled: bool
    disabled_reason: Optional[str]
    created_at: str
    #: Deliveries waiting for an attempt.
    pending: int
    #: Deliveries given up; see `POST /v1/routes/{id}/retry`.
    dead: int


class RouteWithCountsPage(TypedDict):
    items: List[RouteWithCounts]
    next_cursor: None


class RouteAddAnswer(TypedDict):
    id: str
    callback_url: str
    match_source: Optional[str]
    match_type: Optional[str]
    #: False after a 410 Gone answer or `POST /v1/routes/{id}/disable`.
    enabled: bool
    disabled_reason: Optional[str]
    created_at: str
    #: Receivers check signatures with it; shown only once.
    secret: str
    #: Why the route might never match.
    warnings: List[str]


class RouteRemoveAnswer(TypedDict):
    id: str
    removed_at: str


class Route(TypedDict):
    id: str
    callback_url: str
    match_source: Optional[str]
    match_type: Optional[str]
    #: False after a 410 Gone answer or `POST /v1/routes/{id}/disable`.
    enabled: bool
    disabled_reason: Optional[str]
    created_at: str


class RouteEnableAnswer(TypedDict):
    id: str
    callback_url: str
    match_source: Optional[str]
    match_type: Optional[str]
    #: False after a 410 Gone answer or `POST /v1/routes/{id}/disable`.
    enabled: bool
    disabled_reason: Optional[str]
    created_at: str
    #: Deliveries due now.
    resumed: int
    #: True if there are more: call again.
    more: bool


class RouteAttempt(TypedDict):
    attempt: int
    at: str
    #: Null if no answer came.
    status_code: Optional[int]
    duration_ms: int
    error: Optional[str]
    #: The first 1 KB of the answer.
    response: Optional[str]


class RouteDelivery(TypedDict):
    delivery_id: str
    event_id: str
    event_type: str
    #: One of: pending, delivered, dead, cancelled.
    status: str
    #: How many attempts so far.
    attempts: int
    next_attempt_at: Optional[str]
    created_at: str
    finished_at: Optional[str]
    #: Newest first.
    log: List[RouteAttempt]


class RouteDeliveryPage(TypedDict):
    items: List[RouteDelivery]
    next_cursor: Optional[str]


class RouteRetryAnswer(TypedDict):
    route_id: str
    #: Deliveries due now.
    retried: int
    #: True if there are more: call again.
    more: bool


class RouteTestAnswer(TypedDict):
    #: The `webhook-id` sent.
    event_id: str
    #: True for a 2xx answer.
    delivered: bool
    status_code: Optional[int]
    duration_ms: int
    error: Optional[str]
    #: The first 1 KB of the answer.
    response: Optional[str]


class AskAnswer(TypedDict):
    request_id: str
    #: One of: pending, approved, denied, modified, needs_context, expired, answered.
    status: str
    #: The chosen option (`modified`) or the answer (`answered`).
    decision: Optional[str]
    comment: Optional[str]
    hint: Optional[str]
    decided_by: Optional[str]
    state_ref: Optional[str]
    expires_at: str
    poll_after_seconds: Optional[int]
    #: The event waits for the answer.
    parked: NotRequired[bool]


class RequestRequestedBy(TypedDict):
    key_id: str
    agent: Optional[str]
    platform: str


class RequestNotifiedItem(TypedDict):
    channel_id: str
    kind: str
    status: str
    at: Optional[str]


class RequestApprovalsGivenItem(TypedDict):
    channel_id: str
    at: str


class RequestApprovals(TypedDict):
    needed: int
    given: List[RequestApprovalsGivenItem]


class Request(TypedDict):
    request_id: str
    #: One of: approval, question, policy, file_url, email_send, channel, member.
    kind: str
    #: One of: pending, approved, denied, modified, needs_context, expired, answered.
    status: str
    action: Optional[str]
    summary: str
    details: Optional[str]
    risk: Optional[str]
    amount: Optional[float]
    question: Optional[str]
    options: List[str]
    decision: Optional[str]
    comment: Optional[str]
    hint: Optional[str]
    decided_by: Optional[str]
    decided_at: Optional[str]
    created_at: str
    expires_at: str
    requested_by: RequestRequestedBy
    approvers: List[str]
    notified: List[RequestNotifiedItem]
    policy_version: int
    rule: Optional[str]
    state_ref: Optional[str]
    callback_url: Optional[str]
    event_id: Optional[str]
    bind: Any
    spent_at: Optional[str]
    spent_by: Optional[str]
    approvals: RequestApprovals


class RequestPage(TypedDict):
    items: List[Request]
    next_cursor: Optional[str]


class RequestWithdrawAnswer(TypedDict):
    request_id: str
    #: One of: pending, approved, denied, modified, needs_context, expired, answered.
    status: str
    withdrawn: bool
    hint: Optional[str]


class RequestUseAnswer(TypedDict):
    request_id: str
    #: One of: approved, modified.
    status: str
    decision: Optional[str]
    comment: Optional[str]
    spent_at: str
    spent_by: str


class RequestCallbackSecretAnswer(TypedDict):
    #: Receivers check signatures with it; shown only once.
    secret: str
    created_at: str
    #: When the old secret stops signing.
    previous_valid_until: Optional[str]


class Channel(TypedDict):
    id: str
    #: One of: email, telegram.
    kind: str
    label: str
    #: Masked; null for Telegram.
    address: Optional[str]
    #: One of: added, verified, active, removed.
    status: str
    owner: bool
    created_at: str
    verified_at: Optional[str]
    activated_at: Optional[str]
    last_used_at: Optional[str]


class ChannelPage(TypedDict):
    items: List[Channel]
    next_cursor: None


class ChannelAddAnswer(TypedDict):
    channel: Channel
    #: Email: the masked address.
    verification_sent_to: NotRequired[str]
    #: Telegram: the person opens it and taps Start.
    start_url: NotRequired[str]
    #: When the link expires.
    expires_at: str


class ChannelRemoveAnswer(TypedDict):
    id: str
    status: str
    removed_at: str


class Member(TypedDict):
    id: str
    #: One of: owner, admin, member, approver, viewer.
    role: str
    #: Masked.
    address: Optional[str]
    #: `asked`: an owner must approve the invitation first. One of: asked, invited, active, removed.
    status: str
    #: Where they are asked; null if they decide nothing.
    channel_id: Optional[str]
    invited_by: Optional[str]
    created_at: str
    #: When the invitation expires; null if it has none.
    expires_at: Optional[str]
    joined_at: Optional[str]


class MemberPage(TypedDict):
    items: List[Member]
    next_cursor: None


class MemberInviteAnswer(TypedDict):
    member: Member
    #: The request that an owner decides first.
    request_id: Optional[str]


class MemberRoleAnswer(TypedDict):
    member: Member
    #: The request that an owner decides first.
    request_id: Optional[str]


class MemberRemoveAnswer(TypedDict):
    id: str
    removed_at: Optional[str]
    revoked_keys: List[str]
    #: The request that an owner decides first.
    request_id: Optional[str]


class PolicyRule(TypedDict):
    id: str
    #: One of: allow, deny, require_approval, auto_approve, auto_approve_notify.
    effect: str
    action: NotRequired[List[str]]
    tool: NotRequired[List[str]]
    amount_lte: NotRequired[float]
    amount_gt: NotRequired[float]
    risk: NotRequired[List[str]]
    recipient_domains: NotRequired[List[str]]
    approvers: NotRequired[List[str]]
    approvals: NotRequired[int]
    description: NotRequired[str]


class Policy(TypedDict):
    version: int
    rules: List[PolicyRule]
    note: Optional[str]
    approved_by: Optional[str]
    approved_at: Optional[str]


class PolicySetAnswerWarningsItem(TypedDict):
    rule: str
    message: str


class PolicySetAnswer(TypedDict):
    request_id: str
    #: One of: pending, approved, denied, modified, needs_context, expired, answered.
    status: str
    #: The chosen option (`modified`) or the answer (`answered`).
    decision: Optional[str]
    comment: Optional[str]
    hint: Optional[str]
    decided_by: Optional[str]
    state_ref: Optional[str]
    expires_at: str
    poll_after_seconds: Optional[int]
    warnings: List[PolicySetAnswerWarningsItem]


class PolicyTestAnswerTraceItemFailedItem(TypedDict):
    field: str
    wanted: str
    given: str


class PolicyTestAnswerTraceItem(TypedDict):
    rule: str
    #: One of: allow, deny, require_approval, auto_approve, auto_approve_notify.
    effect: str
    says: str
    matched: bool
    decides: bool
    failed: List[PolicyTestAnswerTraceItemFailedItem]


class PolicyTestAnswer(TypedDict):
    #: Null if you passed a document.
    version: Optional[int]
    #: One of: allow, deny, require_approval, auto_approve, auto_approve_notify.
    effect: str
    rule: Optional[str]
    sentence: str
    trace: List[PolicyTestAnswerTraceItem]


class PolicyDiffAnswerWarningsItem(TypedDict):
    rule: str
    message: str


class PolicyDiffAnswer(TypedDict):
    #: The version compared with.
    version: int
    changed: bool
    #: `+ …` added, `- …` removed, `  …` unchanged.
    lines: List[str]
    warnings: List[PolicyDiffAnswerWarningsItem]


class PolicySuggestion(TypedDict):
    action: str
    #: All requests for this action that people decided.
    approved: int
    #: Counted from this time.
    since: str
    first_at: str
    last_at: str
    #: How many different people.
    by: int
    rule: PolicyRule
    #: The rule to put it before. Null: it goes to the end.
    before: Optional[str]
    #: The newest requests.
    examples: List[str]


class PolicySuggestAnswer(TypedDict):
    items: List[PolicySuggestion]


class KvKey(TypedDict):
    key: str
    size_bytes: int
    expires_at: Optional[str]
    updated_at: str
    version: int
    value: NotRequired[Any]


class KvKeyPage(TypedDict):
    items: List[KvKey]
    next_cursor: Optional[str]


class KvEntry(TypedDict):
    key: str
    value: Any
    expires_at: Optional[str]
    updated_at: str
    version: int


class KvSetAnswer(TypedDict):
    key: str
    size_bytes: int
    expires_at: Optional[str]
    version: int


class KvIncrAnswer(TypedDict):
    key: str
    value: int
    expires_at: Optional[str]
    version: int


class KvTouchAnswer(TypedDict):
    key: str
    expires_at: Optional[str]
    version: int


class KvMgetAnswer(TypedDict):
    items: List[Optional[KvEntry]]


class KvDeleteAnswer(TypedDict):
    deleted: bool


class TaskState(TypedDict):
    task_id: str
    state: Any
    note: Optional[str]
    saved_at: str
    version: int


class StateSaveAnswer(TypedDict):
    task_id: str
    key: str
    saved_at: str
    version: int


class StateVersion(TypedDict):
    version: int
    saved_at: str
    size_bytes: int
    note: Optional[str]
    key_id: Optional[str]
    agent: Optional[str]


class StateHistoryAnswer(TypedDict):
    task_id: str
    items: List[StateVersion]


class File(TypedDict):
    path: str
    ref: str
    size_bytes: int
    content_type: str
    updated_at: str
    sha256: str
    version: int


class FilePage(TypedDict):
    items: List[File]
    next_cursor: Optional[str]


class FileGetAnswer(TypedDict):
    path: str
    ref: str
    size_bytes: int
    content_type: str
    updated_at: str
    sha256: str
    version: int
    content_base64: NotRequired[str]
    download_url: NotRequired[str]
    expires_at: NotRequired[str]


class FilePutAnswer(TypedDict):
    path: NotRequired[str]
    ref: NotRequired[str]
    size_bytes: NotRequired[int]
    content_type: NotRequired[str]
    updated_at: NotRequired[str]
    sha256: NotRequired[str]
    version: NotRequired[int]
    status: NotRequired[str]
    upload_id: NotRequired[str]
    upload_url: NotRequired[str]
    upload_headers: NotRequired[Dict[str, str]]
    expires_at: NotRequired[str]


class FileDeleteAnswer(TypedDict):
    deleted: bool


class FileUrlAnswer(TypedDict):
    url: NotRequired[str]
    expires_at: NotRequired[str]
    link_id: NotRequired[str]
    #: One of: pending, denied, needs_context, expired.
    status: NotRequired[str]
    request_id: NotRequired[str]
    comment: NotRequired[Optional[str]]


class EmailMessageError(TypedDict):
    code: str
    message: str


class EmailMessage(TypedDict):
    message_id: str
    to: str
    #: One of: queued, pending, sent, failed, bounced, cancelled.
    status: str
    error: NotRequired[EmailMessageError]


class EmailSendAnswer(TypedDict):
    #: One of: queued, pending, cancelled.
    status: str
    batch_id: str
    request_id: Optional[str]
    thread_id: Optional[str]
    messages: List[EmailMessage]


EmailStatusAnswer = TypedDict("EmailStatusAnswer", {
    #: One of: queued, pending, cancelled, sent, failed.
    "status": "str",
    "batch_id": "str",
    "request_id": "Optional[str]",
    "thread_id": "Optional[str]",
    "messages": "List[EmailMessage]",
    "subject": "str",
    "from": "str",
    "created_at": "str",
})


class UsageAnswerDisk(TypedDict):
    used_bytes: int
    limit_bytes: int
    key_bytes: int
    file_bytes: int
    upload_bytes: int


class UsageAnswerKeys(TypedDict):
    used: int
    limit: int


class UsageAnswerTransfer(TypedDict):
    month: str
    used_bytes: int
    limit_bytes: int
    resets_at: str


class UsageAnswerEmails(TypedDict):
    today: int
    day_limit: int
    this_month: int
    month_limit: int
    #: Why sending is blocked, or null.
    blocked: Optional[str]


class UsageAnswerEventsSourceLimits(TypedDict):
    stored_bytes: Optional[int]
    events_per_minute: Optional[int]
    bytes_per_10_minutes: Optional[int]


class UsageAnswerEventsSourcesItem(TypedDict):
    name: str
    stored_bytes: int
    events_this_minute: int
    bytes_these_10_minutes: int
    #: The limit that the source has reached, or null.
    limited: Optional[str]


class UsageAnswerEvents(TypedDict):
    #: Payloads, headers and attachments of events, and 2 KB each, until their purge.
    stored_bytes: int
    limit_bytes: Optional[int]
    source_limits: UsageAnswerEventsSourceLimits
    sources: List[UsageAnswerEventsSourcesItem]


class UsageAnswer(TypedDict):
    disk: UsageAnswerDisk
    keys: UsageAnswerKeys
    transfer: UsageAnswerTransfer
    emails: UsageAnswerEmails
    events: UsageAnswerEvents


class StoryAnswerEvent(TypedDict):
    id: str
    source: str
    channel: str
    type: str
    received_at: str
    verified: bool
    #: One of: pending, claimed, done, failed, dead, waiting.
    status: str


class LedgerEntry(TypedDict):
    seq: int
    at: str
    op: str
    agent: Optional[str]
    platform: Optional[str]
    key_id: Optional[str]
    subject: Optional[str]
    request_id: Optional[str]
    #: One of: ok, error.
    outcome: str
    code: Optional[str]
    input_digest: Optional[str]
    result_digest: Optional[str]
    prev_hash: str
    hash: str


class StoryAnswerOpeningsItem(TypedDict):
    seq: int
    salt: str
    value: Any


class StoryAnswer(TypedDict):
    event: StoryAnswerEvent
    requests: List[Dict[str, Any]]
    entries: List[LedgerEntry]
    openings: List[StoryAnswerOpeningsItem]


class LedgerEntryPage(TypedDict):
    items: List[LedgerEntry]
    next_cursor: Optional[int]


class LedgerVerifyAnswerHead(TypedDict):
    seq: int
    hash: str
    at: str


class LedgerVerifyAnswer(TypedDict):
    ok: bool
    from_seq: int
    to_seq: int
    checked: int
    anchored: bool
    first_bad_seq: Optional[int]
    reason: Optional[str]
    head: Optional[LedgerVerifyAnswerHead]


class PolicySetPolicyRulesItem(TypedDict):
    id: NotRequired[str]
    #: One of: allow, deny, require_approval, auto_approve, auto_approve_notify.
    effect: str
    #: Exact, or a prefix and `*`.
    action: NotRequired[Union[str, List[str]]]
    tool: NotRequired[Union[str, List[str]]]
    amount_gt: NotRequired[float]
    #: Without its sign.
    amount_lte: NotRequired[float]
    risk: NotRequired[Union[str, List[str]]]
    #: `example.com`, `*.example.com`.
    recipient_domains: NotRequired[List[str]]
    #: Channels to ask.
    approvers: NotRequired[List[str]]
    approvals: NotRequired[int]
    description: NotRequired[str]


class PolicySetPolicy(TypedDict):
    """The whole document, `{"rules": […]}`."""

    #: The first rule whose conditions all match decides; a rule without conditions matches everything.
    rules: List[PolicySetPolicyRulesItem]


class PolicyTestPolicyRulesItem(TypedDict):
    id: NotRequired[str]
    #: One of: allow, deny, require_approval, auto_approve, auto_approve_notify.
    effect: str
    #: Exact, or a prefix and `*`.
    action: NotRequired[Union[str, List[str]]]
    tool: NotRequired[Union[str, List[str]]]
    amount_gt: NotRequired[float]
    #: Without its sign.
    amount_lte: NotRequired[float]
    risk: NotRequired[Union[str, List[str]]]
    #: `example.com`, `*.example.com`.
    recipient_domains: NotRequired[List[str]]
    #: Channels to ask.
    approvers: NotRequired[List[str]]
    approvals: NotRequired[int]
    description: NotRequired[str]


class PolicyTestPolicy(TypedDict):
    """The whole document, `{"rules": […]}`."""

    #: The first rule whose conditions all match decides; a rule without conditions matches everything.
    rules: List[PolicyTestPolicyRulesItem]


class PolicyDiffPolicyRulesItem(TypedDict):
    id: NotRequired[str]
    #: One of: allow, deny, require_approval, auto_approve, auto_approve_notify.
    effect: str
    #: Exact, or a prefix and `*`.
    action: NotRequired[Union[str, List[str]]]
    tool: NotRequired[Union[str, List[str]]]
    amount_gt: NotRequired[float]
    #: Without its sign.
    amount_lte: NotRequired[float]
    risk: NotRequired[Union[str, List[str]]]
    #: `example.com`, `*.example.com`.
    recipient_domains: NotRequired[List[str]]
    #: Channels to ask.
    approvers: NotRequired[List[str]]
    approvals: NotRequired[int]
    description: NotRequired[str]


class PolicyDiffPolicy(TypedDict):
    """The whole document, `{"rules": […]}`."""

    #: The first rule whose conditions all match decides; a rule without conditions matches everything.
    rules: List[PolicyDiffPolicyRulesItem]


class FilePutUpload(TypedDict):
    """Get a URL to PUT up to 100 MB to."""

    #: Exact size in bytes.
    size: int
    content_type: NotRequired[str]
