/** The API's limits (spec section 8) and a few of our own. Names end with the unit. */

const KIB = 1024;
const MIB = 1024 * KIB;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const WEBHOOK_BODY_MAX_BYTES = 5 * MIB;
/** inbox_list and inbox_wait leave out larger payloads. */
export const PAYLOAD_INLINE_MAX_BYTES = 8 * KIB;
/** No larger payload is read to find an event by its words, or to say in a line what it's about. */
export const PAYLOAD_READ_MAX_BYTES = 64 * KIB;
/** Larger bodies are stored separately, as blobs. */
export const PAYLOAD_ROW_MAX_BYTES = 256 * KIB;
export const PAYLOAD_LINK_SECONDS = 3600;
export const PAYLOAD_RETENTION_MS = 30 * DAY_MS;
/** Counts for each stored event besides its payload and headers: its rows, their indexes, and its ledger entry. */
export const EVENT_ROWS_BYTES = 2 * KIB;
export const DEDUP_ID_MS = 30 * DAY_MS;
export const DEDUP_BODY_MS = DAY_MS;

export const LEASE_MIN_SECONDS = 30;
export const LEASE_MAX_SECONDS = 3600;
export const LEASE_DEFAULT_SECONDS = 300;
export const ACK_RESULT_MAX_BYTES = 4 * KIB;
export const PARK_STATE_MAX_BYTES = 16 * KIB;
/** What an approval binds to, as canonical JSON. */
export const BIND_MAX_BYTES = 4 * KIB;
export const NACK_REASON_MAX_BYTES = 1 * KIB;

/** A call stops claiming events once the bodies in its answer reach this size. */
export const CLAIMED_BODIES_MAX_BYTES = 1 * MIB;
export const CLAIMS_MAX = 100;

export const LIST_DEFAULT = 20;
export const LIST_MAX = 100;
export const LEDGER_LIST_DEFAULT = 50;
export const LEDGER_LIST_MAX = 500;

export const WAIT_DEFAULT_SECONDS = 45;
export const WAIT_MAX_SECONDS = 120;
export const WAITS_PER_KEY = 10;
export const WAITS_PER_PROJECT = 25;

/** Subscribers to a project's changes over MCP, and the resources that each may watch. */
export const SUBSCRIPTIONS_PER_KEY = 25;
export const SUBSCRIPTIONS_PER_PROJECT = 100;
export const SUBSCRIBED_RESOURCES_MAX = 50;

export const ACTIVE_KEYS_MAX = 20;
/** The prefixes that a key may be limited to. */
export const DISK_PREFIXES_MAX = 10;
export const RATE_BURST = 100;

/** Bodies of API calls that declare this limit. */
export const API_BODY_MAX_BYTES = 1 * MIB;
/** Bodies of MCP requests, because a file of 1 MB is 1.4 MB in base64. */
export const MCP_BODY_MAX_BYTES = 2 * MIB;
/** Bodies of all other API calls. */
export const API_BODY_DEFAULT_MAX_BYTES = 128 * KIB;
/** Bodies and forms of a sign-in, which need no key. */
export const SIGN_IN_BODY_MAX_BYTES = 2 * KIB;
export const IDEMPOTENCY_KEY_MAX_CHARS = 255;
export const IDEMPOTENCY_MS = DAY_MS;
/** How long a session_hello names the agent of a key. */
export const SESSION_MS = 12 * HOUR_MS;

export const KV_VALUE_MAX_BYTES = 256 * KIB;
/** Bodies with a value, because escaping can make each character six times as long. */
export const KV_BODY_MAX_BYTES = 2 * MIB;
export const KV_KEY_MAX_BYTES = 512;
/** The most keys and bytes of values that kv_mget returns at once. */
export const KV_GET_MAX_KEYS = 100;
export const KV_GET_MAX_BYTES = 4 * MIB;
/** A page of kv_list ends before its values pass this many bytes. */
export const KV_PAGE_VALUES_BYTES = MIB;
export const KV_TTL_MAX_SECONDS = 31_536_000;
export const DISK_KEYS_MAX = 10_000;
export const DISK_MAX_BYTES = 1024 * MIB;
export const STATE_NOTE_MAX_CHARS = 500;
/** Earlier versions of a task's state, how long each is kept after it was replaced, and the bytes of all in a project. */
export const STATE_VERSIONS_MAX = 20;
export const STATE_VERSION_MS = 30 * DAY_MS;
export const STATE_VERSIONS_MAX_BYTES = 64 * MIB;
/** The API sets no limit for paths; this is the one for keys. */
export const FILE_PATH_MAX_BYTES = 512;
/** In a body or in `content_base64`, in both directions. */
export const FILE_INLINE_MAX_BYTES = 1 * MIB;
export const FILE_MAX_BYTES = 100 * MIB;
export const UPLOAD_MS = 15 * MINUTE_MS;
export const UPLOADS_PER_PATH = 3;
export const DOWNLOAD_LINK_SECONDS = 300;
export const FILE_URL_MIN_SECONDS = 60;
export const FILE_URL_MAX_SECONDS = 604_800;
export const FILE_URL_DEFAULT_SECONDS = 3600;
/** How long after the decision an approval can be used. */
export const APPROVAL_USE_MS = DAY_MS;
export const TRANSFER_MONTH_MAX_BYTES = 5 * 1024 * MIB;
export const PENDING_REQUESTS_MAX = 50;
/** So that one key leaves room for others. */
export const PENDING_REQUESTS_PER_KEY = 30;
export const ROUTES_MAX = 50;
export const CALLBACK_URL_MAX_CHARS = 2048;
/** How long after a rotation request callbacks also carry the old secret's signature. */
export const CALLBACK_SECRET_GRACE_MS = DAY_MS;
/** How long a source also accepts its previous secret. */
export const SOURCE_SECRET_GRACE_DEFAULT_SECONDS = 86_400;
export const SOURCE_SECRET_GRACE_MAX_SECONDS = 604_800;
/** How long a request waits for a person by default. */
export const REQUEST_DEFAULT_MS = DAY_MS;
export const REQUEST_MIN_MS = MINUTE_MS;
export const REQUEST_MAX_MS = 7 * DAY_MS;
export const OPTIONS_MAX = 5;
export const OPTION_MAX_CHARS = 40;
export const DETAILS_MAX_CHARS = 4000;
export const ACTION_MAX_CHARS = 200;
export const SUMMARY_MAX_CHARS = 300;
export const THREAD_MAX_CHARS = 150;
export const QUESTION_MAX_CHARS = 2000;
export const STATE_REF_MAX_CHARS = 500;
export const POLICY_NOTE_MAX_CHARS = 500;
/** A rule is suggested from what people decided in this time, and in this many of the newest requests. */
export const SUGGESTION_WINDOW_MS = 30 * DAY_MS;
export const SUGGESTION_SCAN_MAX = 5000;
export const SUGGESTION_APPROVALS_MIN = 5;
export const SUGGESTIONS_MAX = 50;
/** How long a caller should wait before asking for the status again. */
export const REQUEST_POLL_SECONDS = 30;
export const CHANNELS_MAX = 50;
/** How many people a request may need. */
export const APPROVALS_MAX = 5;
export const CHANNEL_LABEL_MAX_CHARS = 60;
/** How long a link to confirm an address is valid, and one to start a Telegram chat. */
export const CHANNEL_EMAIL_LINK_MS = DAY_MS;
export const CHANNEL_TELEGRAM_LINK_MS = 15 * MINUTE_MS;
export const CHANNEL_RESEND_MS = MINUTE_MS;
/** People who share a project. */
export const MEMBERS_MAX = 50;
/** How long an invitation is good. */
export const INVITATION_MS = 7 * DAY_MS;
/** The least time between two mails of one invitation. */
export const INVITATION_RESEND_MS = MINUTE_MS;
/** The time to confirm a sign-in, and again to use it. */
export const LOGIN_MS = 15 * MINUTE_MS;
/** How long a client should wait between polls of a sign-in, and how long it must. */
export const LOGIN_POLL_SECONDS = 3;
export const LOGIN_POLL_MIN_MS = 1000;
/** Starts per mailbox from one network, and from all networks together that its account doesn't know. */
export const LOGINS_PER_EMAIL = 5;
export const LOGINS_FROM_STRANGERS = 10;
/** How often a person may type another code than the terminal's. */
export const LOGIN_CODES_MAX = 2;
/** How long an account knows a network that it confirmed a sign-in from. */
export const NETWORK_KNOWN_MS = 90 * DAY_MS;
export const LOGINS_PER_ADDRESS = 20;
/** The period for the limits above. */
export const LOGINS_WINDOW_MS = HOUR_MS;
/** When sign-ins are deleted. */
export const LOGIN_KEPT_MS = DAY_MS;
export const PROJECTS_PER_ACCOUNT = 5;
/** How long a link of `svc open` works, and how long its web inbox session lasts. */
export const UI_LINK_MS = MINUTE_MS;
export const UI_SESSION_MS = 12 * HOUR_MS;
/** A session ends earlier if none of its pages was open for this long (give or take five minutes). */
export const UI_IDLE_MS = HOUR_MS;
/** How long an OAuth client has to exchange its code, and how long each access token works. */
export const OAUTH_CODE_MS = MINUTE_MS;
export const OAUTH_TOKEN_MS = HOUR_MS;
/** How long the previous access token works after a renewal, for calls on their way. */
export const OAUTH_OVERLAP_MS = MINUTE_MS;
/** How many pages get live updates at once. */
export const UI_STREAMS_PER_SESSION = 6;
export const UI_STREAMS_PER_PROJECT = 100;
/** How many change streams a key and its project may have open. */
export const CHANGE_STREAMS_PER_KEY = 500;
export const CHANGE_STREAMS_PER_PROJECT = 1000;

export const EMAIL_RECIPIENTS_MAX = 50;
export const EMAIL_SUBJECT_MAX_CHARS = 255;
/** For the text and the HTML each. */
export const EMAIL_BODY_MAX_BYTES = 256 * KIB;
/** Bodies of calls that send, because a text of 256 KB may be three times as long as JSON. */
export const EMAIL_CALL_MAX_BYTES = 2 * MIB;
export const EMAIL_ATTACHMENTS_MAX = 10;
export const EMAIL_ATTACHMENTS_MAX_BYTES = 10 * MIB;
/** Messages per project and day, and per calendar month (UTC). */
export const EMAILS_PER_DAY = 50;
export const EMAILS_PER_MONTH = 1000;
/** How long the text, HTML and attachments of sent mail are kept. */
export const EMAIL_RETENTION_MS = 30 * DAY_MS;
/** The largest incoming mail that is read in full. */
export const MAIL_MAX_BYTES = 25 * MIB;
