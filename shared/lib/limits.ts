/** Every limit of the interface (spec section 8) and the few of our own. Units stand last in the names. */

const KIB = 1024;
const MIB = 1024 * KIB;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const WEBHOOK_BODY_MAX_BYTES = 5 * MIB;
/** Payloads above this are left out of inbox_list and inbox_wait. */
export const PAYLOAD_INLINE_MAX_BYTES = 8 * KIB;
/** Bodies above this are stored apart, as a blob. */
export const PAYLOAD_ROW_MAX_BYTES = 256 * KIB;
export const PAYLOAD_LINK_SECONDS = 3600;
export const PAYLOAD_RETENTION_MS = 30 * DAY_MS;
export const DEDUP_ID_MS = 30 * DAY_MS;
export const DEDUP_BODY_MS = DAY_MS;

export const LEASE_MIN_SECONDS = 30;
export const LEASE_MAX_SECONDS = 3600;
export const LEASE_DEFAULT_SECONDS = 300;
export const ACK_RESULT_MAX_BYTES = 4 * KIB;
export const PARK_STATE_MAX_BYTES = 16 * KIB;
/** What an approval binds, as canonical JSON. */
export const BIND_MAX_BYTES = 4 * KIB;
export const NACK_REASON_MAX_BYTES = 1 * KIB;

/** A call claims no further event when the bodies in its answer have these bytes. */
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

/** Those who follow the changes of a project over MCP, and how many addresses one of them watches. */
export const SUBSCRIPTIONS_PER_KEY = 25;
export const SUBSCRIPTIONS_PER_PROJECT = 100;
export const SUBSCRIBED_RESOURCES_MAX = 50;

export const ACTIVE_KEYS_MAX = 20;
export const RATE_BURST = 100;

/** Bodies of the API calls that say so. */
export const API_BODY_MAX_BYTES = 1 * MIB;
/** Bodies of MCP requests: a file of 1 MB is 1.4 MB as base64. */
export const MCP_BODY_MAX_BYTES = 2 * MIB;
/** Bodies of all other API calls. */
export const API_BODY_DEFAULT_MAX_BYTES = 128 * KIB;
export const IDEMPOTENCY_KEY_MAX_CHARS = 255;
export const IDEMPOTENCY_MS = DAY_MS;
/** A session_hello names the agent of a key for this long. */
export const SESSION_MS = 12 * HOUR_MS;

export const KV_VALUE_MAX_BYTES = 256 * KIB;
/** Bodies that hold a value: with every character escaped, it takes six times the bytes that are stored. */
export const KV_BODY_MAX_BYTES = 2 * MIB;
export const KV_KEY_MAX_BYTES = 512;
export const KV_TTL_MAX_SECONDS = 31_536_000;
export const DISK_KEYS_MAX = 10_000;
export const DISK_MAX_BYTES = 1024 * MIB;
export const STATE_NOTE_MAX_CHARS = 500;
/** Paths have no length in the interface; this is that of a key. */
export const FILE_PATH_MAX_BYTES = 512;
/** Through a body or `content_base64`, and back. */
export const FILE_INLINE_MAX_BYTES = 1 * MIB;
export const FILE_MAX_BYTES = 100 * MIB;
export const UPLOAD_MS = 15 * MINUTE_MS;
export const UPLOADS_PER_PATH = 3;
export const DOWNLOAD_LINK_SECONDS = 300;
export const FILE_URL_MIN_SECONDS = 60;
export const FILE_URL_MAX_SECONDS = 604_800;
export const FILE_URL_DEFAULT_SECONDS = 3600;
/** An approval can be used within this time after the decision. */
export const APPROVAL_USE_MS = DAY_MS;
export const TRANSFER_MONTH_MAX_BYTES = 5 * 1024 * MIB;
export const PENDING_REQUESTS_MAX = 50;
export const ROUTES_MAX = 50;
export const CALLBACK_URL_MAX_CHARS = 2048;
/** After a rotation callbacks of requests carry the signature of the secret before as well, for this long. */
export const CALLBACK_SECRET_GRACE_MS = DAY_MS;
/** How long the secret of a source before the newest is taken as well. */
export const SOURCE_SECRET_GRACE_DEFAULT_SECONDS = 86_400;
export const SOURCE_SECRET_GRACE_MAX_SECONDS = 604_800;
/** A request that names no other time waits this long for a person. */
export const REQUEST_DEFAULT_MS = DAY_MS;
export const REQUEST_MIN_MS = MINUTE_MS;
export const REQUEST_MAX_MS = 7 * DAY_MS;
export const OPTIONS_MAX = 5;
export const OPTION_MAX_CHARS = 40;
export const DETAILS_MAX_CHARS = 4000;
export const ACTION_MAX_CHARS = 200;
export const SUMMARY_MAX_CHARS = 300;
export const QUESTION_MAX_CHARS = 2000;
export const STATE_REF_MAX_CHARS = 500;
export const POLICY_NOTE_MAX_CHARS = 500;
/** How long a caller should let pass before it asks for the status again. */
export const REQUEST_POLL_SECONDS = 30;
export const CHANNELS_MAX = 50;
export const CHANNEL_LABEL_MAX_CHARS = 60;
/** How long the link holds that confirms an address, and the one that starts a Telegram chat. */
export const CHANNEL_EMAIL_LINK_MS = DAY_MS;
export const CHANNEL_TELEGRAM_LINK_MS = 15 * MINUTE_MS;
export const CHANNEL_RESEND_MS = MINUTE_MS;
/** A sign-in is confirmed within this time, and used within as long again. */
export const LOGIN_MS = 15 * MINUTE_MS;
/** How long a client should let pass before it asks again whether a sign-in is confirmed, and how long it must. */
export const LOGIN_POLL_SECONDS = 3;
export const LOGIN_POLL_MIN_MS = 1000;
export const LOGINS_PER_EMAIL = 5;
export const LOGINS_PER_ADDRESS = 20;
/** The time for which those two count. */
export const LOGINS_WINDOW_MS = HOUR_MS;
/** Sign-ins are forgotten after this time. */
export const LOGIN_KEPT_MS = DAY_MS;
export const PROJECTS_PER_ACCOUNT = 5;
/** A link of `svc open` is used within this time, and whoever opens the web inbox may look at it for so long. */
export const UI_LINK_MS = MINUTE_MS;
export const UI_SESSION_MS = 12 * HOUR_MS;
/** A session ends sooner when no page of it was open for this time, give or take five minutes. */
export const UI_IDLE_MS = HOUR_MS;
/** Pages that are kept up to date at a time. */
export const UI_STREAMS_PER_SESSION = 6;
export const UI_STREAMS_PER_PROJECT = 100;
/** Streams of changes that one project has open at a time. */
export const CHANGE_STREAMS_PER_PROJECT = 1000;

export const EMAIL_RECIPIENTS_MAX = 50;
export const EMAIL_SUBJECT_MAX_CHARS = 255;
/** Of the text, and of the HTML. */
export const EMAIL_BODY_MAX_BYTES = 256 * KIB;
/** Bodies of calls that send: a text of 256 KB may have three times that as JSON. */
export const EMAIL_CALL_MAX_BYTES = 2 * MIB;
export const EMAIL_ATTACHMENTS_MAX = 10;
export const EMAIL_ATTACHMENTS_MAX_BYTES = 10 * MIB;
/** Messages that a project may send in a day, and in a calendar month (UTC). */
export const EMAILS_PER_DAY = 50;
export const EMAILS_PER_MONTH = 1000;
/** The text, HTML and attachments of a mail that was sent are kept for this long. */
export const EMAIL_RETENTION_MS = 30 * DAY_MS;
/** A mail that came in is read whole up to this. */
export const MAIL_MAX_BYTES = 25 * MIB;
