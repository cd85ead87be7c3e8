// Written by `npm run surface` from the operations. Do not edit.

/** Why a call was refused. */
export interface ApiError {
  /** The refusal. */
  readonly error: {
    readonly code: ErrorCode;
    /** What happened, in one sentence. */
    readonly message: string;
    /** What to do next. */
    readonly hint: string | null;
    readonly details?: ErrorDetails | undefined;
  };
}

/** What went wrong: decide by this, never by the message. */
export type ErrorCode =
  | 'UNAUTHENTICATED'
  | 'KEY_REVOKED'
  | 'SCOPE_MISSING'
  | 'VALIDATION_FAILED'
  | 'NOT_FOUND'
  | 'SLUG_TAKEN'
  | 'LOGIN_NOT_VERIFIED'
  | 'LOGIN_EXPIRED'
  | 'LOGIN_CONSUMED'
  | 'PROJECT_LIMIT_REACHED'
  | 'LAST_ADMIN_KEY'
  | 'RATE_LIMITED'
  | 'EMAIL_DELIVERY_FAILED'
  | 'INGRESS_SIGNATURE_INVALID'
  | 'PAYLOAD_TOO_LARGE'
  | 'SOURCE_NAME_TAKEN'
  | 'EMAIL_SOURCE_EXISTS'
  | 'EVENT_NOT_CLAIMABLE'
  | 'EVENT_ROUTED'
  | 'LEASE_NOT_HELD'
  | 'LEASE_EXPIRED'
  | 'TOO_MANY_WAITS'
  | 'CALLBACK_URL_REJECTED'
  | 'KEY_LIMIT_REACHED'
  | 'CHANNEL_NOT_VERIFIED'
  | 'CHANNEL_ADDRESS_REJECTED'
  | 'CHANNEL_EXISTS'
  | 'CHANNEL_OWNER_PROTECTED'
  | 'CHANNEL_KIND_UNAVAILABLE'
  | 'POLICY_INVALID'
  | 'TOO_MANY_PENDING_REQUESTS'
  | 'CALLBACK_SECRET_MISSING'
  | 'DETAILS_REQUIRED'
  | 'QUOTA_EXCEEDED'
  | 'POLICY_DENIED'
  | 'APPROVAL_NOT_APPLICABLE'
  | 'UPLOAD_INCOMPLETE'
  | 'UPLOAD_LIMIT'
  | 'PATH_RESERVED'
  | 'SEND_LIMIT_REACHED'
  | 'SEND_BLOCKED'
  | 'EMAIL_SOURCE_REQUIRED'
  | 'INTERNAL'
  | 'UNAVAILABLE'
  | 'METHOD_NOT_ALLOWED'
  | 'PRECONDITION_FAILED'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | (string & {});

/** What a program needs to go on. Which members there are depends on the code. */
export interface ErrorDetails {
  /** VALIDATION_FAILED: the fields to mend, at most 20. */
  readonly fields?: readonly FieldProblem[] | undefined;
  /** SCOPE_MISSING: the scope that the key lacks. */
  readonly scope?: string | undefined;
  /** Seconds to wait before a repeat. */
  readonly retry_after?: number | undefined;
  /** The limit that was reached. */
  readonly limit?: number | undefined;
  /** TOO_MANY_WAITS: whose limit it is. */
  readonly kind?: string | undefined;
  /** How much of the limit is used. */
  readonly used?: number | undefined;
  /** SEND_LIMIT_REACHED: `day` or `month`. */
  readonly window?: string | undefined;
  /** POLICY_DENIED: the rule that denied it. */
  readonly rule?: (string | null) | undefined;
  /** POLICY_INVALID: the bad field of the document. */
  readonly path?: string | undefined;
  /** EVENT_NOT_CLAIMABLE: how the event stands. */
  readonly status?: string | undefined;
  /** CHANNEL_NOT_VERIFIED: the channel. */
  readonly approver?: string | undefined;
}

/** What is wrong with one field. */
export interface FieldProblem {
  /** The field: `event_id`, `options[2]`, `upload.size`. */
  readonly path: string;
  /** A sentence about the field, such as `Must be at least 30.` */
  readonly message: string;
}

/** How a request stands. */
export interface AskAnswer {
  /** `req_…`. */
  readonly request_id: string;
  /** Only `approved` and `modified` mean yes. */
  readonly status:
    | 'pending'
    | 'approved'
    | 'denied'
    | 'modified'
    | 'needs_context'
    | 'expired'
    | 'answered'
    | (string & {});
  /** The chosen option (`modified`) or the answer (`answered`). */
  readonly decision: string | null;
  /** What the person added. */
  readonly comment: string | null;
  /** What to do next. */
  readonly hint: string | null;
  /** `channel:<id>` or `policy:<rule>`. */
  readonly decided_by: string | null;
  /** As you gave it. */
  readonly state_ref: string | null;
  /** Without a decision it expires then. */
  readonly expires_at: string;
  /** While it is pending: when to call `GET /v1/requests/{id}` again. */
  readonly poll_after_seconds: number | null;
  /** The event waits for the answer. */
  readonly parked?: boolean | undefined;
  /** JSON kept as text. */
  readonly warnings?: readonly string[] | undefined;
}

/** A file of a mail. */
export interface Attachment {
  /** File name; `evt_…/name` names it in file operations. */
  readonly name: string;
  /** Media type, as the mail states it. */
  readonly content_type: string;
  /** Size after decoding. */
  readonly size_bytes: number;
  /** How the HTML refers to it. */
  readonly content_id: string | null;
  /** Shown inside the HTML. */
  readonly inline: boolean;
  /** SHA-256 of the bytes, in hex. */
  readonly sha256: string;
  /** Link to the file, valid for an hour; only when the event is claimed or read alone. */
  readonly url?: string | undefined;
  /** When the link ends. */
  readonly url_expires_at?: string | undefined;
}

/** The answer of auth_key_create. */
export interface AuthKeyCreateAnswer {
  /** The project of the key. */
  readonly project: {
    /** `prj_…`. */
    readonly id: string;
    /** Its name in addresses. */
    readonly slug: string;
    /** What people call it. */
    readonly name: string;
    /** When it was created. */
    readonly created_at: string;
  };
  /** The new key. */
  readonly key: {
    /** `key_…`. */
    readonly id: string;
    /** What people call it. */
    readonly name: string;
    /** What it may do. */
    readonly scopes: readonly (
      | 'admin'
      | 'ledger:read'
      | 'inbox:read'
      | 'inbox:write'
      | 'approvals'
      | 'disk'
      | 'disk:read'
      | 'send'
      | (string & {})
    )[];
    /** When it was created. */
    readonly created_at: string;
  };
  /** The secret, shown only once. */
  readonly api_key: string;
  /** Addresses of this server. */
  readonly urls: {
    /** Base of REST. */
    readonly api: string;
    /** The MCP endpoint. */
    readonly mcp: string;
    /** Base of webhook addresses. */
    readonly hooks: string;
  };
}

/** The answer of auth_poll. */
export interface AuthPollAnswer {
  /** Until then the call answers LOGIN_NOT_VERIFIED. */
  readonly status: 'confirmed';
  /** The address, with most letters hidden. */
  readonly email_masked: string;
  /** Use the sign-in before this time. */
  readonly expires_at: string;
  /** Of this account. */
  readonly projects: readonly {
    /** `prj_…`. */
    readonly id: string;
    /** Its name in addresses. */
    readonly slug: string;
    /** What people call it. */
    readonly name: string;
  }[];
}

/** The answer of auth_start. */
export interface AuthStartAnswer {
  /** A secret: keep it to yourself. */
  readonly login_id: string;
  /** Show it: the person types it on the page behind the link. */
  readonly user_code: string;
  /** The address, with most letters hidden. */
  readonly email_masked: string;
  /** Seconds until the link ends. */
  readonly expires_in: number;
  /** When the link ends. */
  readonly expires_at: string;
  /** Seconds to let pass between polls. */
  readonly interval: number;
  /** `kept`: no mail server is set, so mail stays on this server. */
  readonly mail: 'sent' | 'kept' | (string & {});
}

/** A file of a mail that was not stored. */
export interface BlockedAttachment {
  /** File name, as the mail states it. */
  readonly name: string;
  /** Media type, as the mail states it. */
  readonly content_type: string;
  /** Size after decoding. */
  readonly size_bytes: number;
  /** Why it was not stored. */
  readonly reason: 'executable' | 'encrypted_archive' | 'too_large' | 'too_many' | (string & {});
}

/** A person who can be asked, by mail or Telegram. */
export interface Channel {
  /** `chn_…`. */
  readonly id: string;
  /** How the person is reached. */
  readonly kind: 'email' | 'telegram' | (string & {});
  /** A short name. */
  readonly label: string;
  /** Masked; null for Telegram. */
  readonly address: string | null;
  /** Only an active channel is asked. */
  readonly status: 'added' | 'verified' | 'active' | 'removed' | (string & {});
  /** Whether it is the owner's. */
  readonly owner: boolean;
  /** When it was added. */
  readonly created_at: string;
  /** Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`. */
  readonly created_by: string | null;
  /** The same for people: a key’s name, a masked address, or `unknown`. */
  readonly maker: string;
  /** When the person confirmed the address. */
  readonly verified_at: string | null;
  /** When the owner approved it. */
  readonly activated_at: string | null;
  /** When a person last decided through it. */
  readonly last_used_at: string | null;
  /** Whose an owner said it is: another channel of the person, or this one if they have no other. */
  readonly person_of: string | null;
}

/** The answer of `POST /v1/channels`. */
export interface ChannelAddAnswer {
  readonly channel: Channel;
  /** Email: the masked address. */
  readonly verification_sent_to?: string | undefined;
  /** Telegram: the person opens it and taps Start. */
  readonly start_url?: string | undefined;
  /** When the link expires. */
  readonly expires_at: string;
}

/** One page of a list. */
export interface ChannelPage {
  /** The owner's channel first. */
  readonly items: readonly Channel[];
  /** Always null: the list has one page. */
  readonly next_cursor: string | null;
}

/** The answer of `DELETE /v1/channels/{id}`. */
export interface ChannelRemoveAnswer {
  /** `chn_…`. */
  readonly id: string;
  /** Its links and buttons no longer work. */
  readonly status: 'removed';
  /** When it was removed. */
  readonly removed_at: string;
}

/** An event with its lease. */
export interface ClaimedEvent {
  /** `evt_…`. */
  readonly id: string;
  /** The owning project, `prj_…`. */
  readonly project: string;
  /** Name of the source; `service` for events that the service writes. */
  readonly source: string;
  /** `webhook` or `email` for received events. */
  readonly channel: string;
  /** What happened: the type that the sender names, such as `invoice.paid`, or `webhook.received`, `email.received`. */
  readonly type: string;
  /** When it arrived. */
  readonly received_at: string;
  /** The signature was checked; for mail, DKIM and DMARC passed. */
  readonly verified: boolean;
  /** The sender sent a secret along, which shows who it is and does not protect the content. */
  readonly authenticated?: 'shared_secret' | undefined;
  /** Outsiders wrote the content, unless this is `service`. */
  readonly trust: 'external_untrusted' | 'service' | (string & {});
  /** The same content was received before under another id. */
  readonly suspected_replay: boolean;
  /** Mail: the message that this one answers. */
  readonly reply_to: string | null;
  /** Webhooks: the request headers, without credentials and signatures. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The parsed body; any other body is `{text}` or `{base64}`. Null if it is not part of this answer. */
  readonly payload: unknown;
  /** Link to a body over 256 KB, valid for an hour; only when the event is claimed or read alone. */
  readonly payload_url: string | null;
  /** Webhooks: link to the body, byte for byte as it came, valid for an hour; only when the event is claimed. */
  readonly body_url?: string | undefined;
  /** The payload was left out of this answer because it is over 8 KB; `POST /v1/inbox/claim` returns it. */
  readonly payload_truncated: boolean;
  /** The payload was deleted, 30 days after it arrived. */
  readonly payload_purged: boolean;
  /** Mail: the conversation it belongs to. */
  readonly thread_id?: (string | null) | undefined;
  /** Mail: a safe page with the HTML, valid for an hour. */
  readonly html_url?: (string | null) | undefined;
  /** Mail: the attached files. */
  readonly attachments?: readonly Attachment[] | undefined;
  /** Mail: attached files that were not stored. */
  readonly attachments_blocked?: readonly BlockedAttachment[] | undefined;
  /** Where it is in the queue. */
  readonly status: 'pending' | 'claimed' | 'done' | 'failed' | 'dead' | 'waiting' | (string & {});
  /** How often it failed or its lease ran out. */
  readonly attempts: number;
  /** When a failed event is pending again. */
  readonly retry_at: string | null;
  /** Failed and dead events: why, as the agent said it. */
  readonly reason?: string | undefined;
  /** What it is about, in one line; only in a brief list. */
  readonly gist?: string | undefined;
  /** Parked events only: what has to end before it is pending again. */
  readonly waiting_for?:
    | readonly {
        /** What it waits for: a request, a mail, another event or a time. */
        readonly id: string;
        /** How that stands. */
        readonly status: string;
        /** When it ends at the latest. */
        readonly expires_at: string;
      }[]
    | undefined;
  /** When it was parked. */
  readonly parked_at?: string | undefined;
  /** When it wakes at the latest. */
  readonly wakes_at?: string | undefined;
  /** Proof of this claim; pass it on to ack, nack or extend. */
  readonly lease_id: string;
  /** Ack, nack or extend before then, or others may claim it. */
  readonly lease_expires_at: string;
  readonly resumed?: Resumed | undefined;
}

/** A mail to one recipient. */
export interface EmailMessage {
  /** `msg_…`; replies name it in `reply_to`. */
  readonly message_id: string;
  /** The recipient. */
  readonly to: string;
  /** Missing for an address in `to`. */
  readonly copy?: ('cc' | 'bcc' | (string & {})) | undefined;
  /** How the delivery stands. */
  readonly status:
    | 'queued'
    | 'pending'
    | 'sent'
    | 'failed'
    | 'bounced'
    | 'cancelled'
    | (string & {});
  /** What went wrong, for good or until the next attempt. */
  readonly error?:
    | {
        /** `delayed` until the next attempt; otherwise why it failed. */
        readonly code: string;
        /** The reason in words. */
        readonly message: string;
      }
    | undefined;
}

/** The answer of `POST /v1/emails`. */
export interface EmailSendAnswer {
  /** `pending`: a person has to approve. `queued`: on its way. `cancelled`: refused. */
  readonly status: 'queued' | 'pending' | 'cancelled' | (string & {});
  /** `bat_…`: this call. */
  readonly batch_id: string;
  /** The request to people, if the policy asked them. */
  readonly request_id: string | null;
  /** The conversation it belongs to. */
  readonly thread_id: string | null;
  /** One per recipient. */
  readonly messages: readonly EmailMessage[];
}

/** The answer of `GET /v1/emails/{batch_id}`. */
export interface EmailStatusAnswer {
  /** `sent` once the last attempt is over, if any message went out. */
  readonly status: 'queued' | 'pending' | 'cancelled' | 'sent' | 'failed' | (string & {});
  /** `bat_…`: this call. */
  readonly batch_id: string;
  /** The request to people, if the policy asked them. */
  readonly request_id: string | null;
  /** The conversation it belongs to. */
  readonly thread_id: string | null;
  /** One per recipient. */
  readonly messages: readonly EmailMessage[];
  /** As it was sent. */
  readonly subject: string;
  /** The project's address. */
  readonly from: string;
  /** When it was sent or asked for. */
  readonly created_at: string;
}

/** A webhook, a mail, or what the service reports. */
export interface Event {
  /** `evt_…`. */
  readonly id: string;
  /** The owning project, `prj_…`. */
  readonly project: string;
  /** Name of the source; `service` for events that the service writes. */
  readonly source: string;
  /** `webhook` or `email` for received events. */
  readonly channel: string;
  /** What happened: the type that the sender names, such as `invoice.paid`, or `webhook.received`, `email.received`. */
  readonly type: string;
  /** When it arrived. */
  readonly received_at: string;
  /** The signature was checked; for mail, DKIM and DMARC passed. */
  readonly verified: boolean;
  /** The sender sent a secret along, which shows who it is and does not protect the content. */
  readonly authenticated?: 'shared_secret' | undefined;
  /** Outsiders wrote the content, unless this is `service`. */
  readonly trust: 'external_untrusted' | 'service' | (string & {});
  /** The same content was received before under another id. */
  readonly suspected_replay: boolean;
  /** Mail: the message that this one answers. */
  readonly reply_to: string | null;
  /** Webhooks: the request headers, without credentials and signatures. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The parsed body; any other body is `{text}` or `{base64}`. Null if it is not part of this answer. */
  readonly payload: unknown;
  /** Link to a body over 256 KB, valid for an hour; only when the event is claimed or read alone. */
  readonly payload_url: string | null;
  /** Webhooks: link to the body, byte for byte as it came, valid for an hour; only when the event is claimed. */
  readonly body_url?: string | undefined;
  /** The payload was left out of this answer because it is over 8 KB; `POST /v1/inbox/claim` returns it. */
  readonly payload_truncated: boolean;
  /** The payload was deleted, 30 days after it arrived. */
  readonly payload_purged: boolean;
  /** Mail: the conversation it belongs to. */
  readonly thread_id?: (string | null) | undefined;
  /** Mail: a safe page with the HTML, valid for an hour. */
  readonly html_url?: (string | null) | undefined;
  /** Mail: the attached files. */
  readonly attachments?: readonly Attachment[] | undefined;
  /** Mail: attached files that were not stored. */
  readonly attachments_blocked?: readonly BlockedAttachment[] | undefined;
  /** Where it is in the queue. */
  readonly status: 'pending' | 'claimed' | 'done' | 'failed' | 'dead' | 'waiting' | (string & {});
  /** How often it failed or its lease ran out. */
  readonly attempts: number;
  /** When a failed event is pending again. */
  readonly retry_at: string | null;
  /** Failed and dead events: why, as the agent said it. */
  readonly reason?: string | undefined;
  /** What it is about, in one line; only in a brief list. */
  readonly gist?: string | undefined;
  /** Parked events only: what has to end before it is pending again. */
  readonly waiting_for?:
    | readonly {
        /** What it waits for: a request, a mail, another event or a time. */
        readonly id: string;
        /** How that stands. */
        readonly status: string;
        /** When it ends at the latest. */
        readonly expires_at: string;
      }[]
    | undefined;
  /** When it was parked. */
  readonly parked_at?: string | undefined;
  /** When it wakes at the latest. */
  readonly wakes_at?: string | undefined;
}

/** A link to the body of a webhook. */
export interface EventLink {
  /** The bytes as they came; anyone with the link can read them. */
  readonly body_url: string;
  /** When the link ends. */
  readonly url_expires_at: string;
  /** How long the body is. */
  readonly size_bytes: number;
}

/** One page of a list. */
export interface EventPage {
  /** Oldest first, unless `newest` was asked for. */
  readonly items: readonly Event[];
  /** Pass as `cursor` for the next page; null on the last. */
  readonly next_cursor: string | null;
  /** How to get left-out payloads. */
  readonly hint?: string | undefined;
  /** Why the filter might never match. */
  readonly warnings?: readonly string[] | undefined;
}

/** An event with how it was finished. */
export interface EventWithResult {
  /** `evt_…`. */
  readonly id: string;
  /** The owning project, `prj_…`. */
  readonly project: string;
  /** Name of the source; `service` for events that the service writes. */
  readonly source: string;
  /** `webhook` or `email` for received events. */
  readonly channel: string;
  /** What happened: the type that the sender names, such as `invoice.paid`, or `webhook.received`, `email.received`. */
  readonly type: string;
  /** When it arrived. */
  readonly received_at: string;
  /** The signature was checked; for mail, DKIM and DMARC passed. */
  readonly verified: boolean;
  /** The sender sent a secret along, which shows who it is and does not protect the content. */
  readonly authenticated?: 'shared_secret' | undefined;
  /** Outsiders wrote the content, unless this is `service`. */
  readonly trust: 'external_untrusted' | 'service' | (string & {});
  /** The same content was received before under another id. */
  readonly suspected_replay: boolean;
  /** Mail: the message that this one answers. */
  readonly reply_to: string | null;
  /** Webhooks: the request headers, without credentials and signatures. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The parsed body; any other body is `{text}` or `{base64}`. Null if it is not part of this answer. */
  readonly payload: unknown;
  /** Link to a body over 256 KB, valid for an hour; only when the event is claimed or read alone. */
  readonly payload_url: string | null;
  /** Webhooks: link to the body, byte for byte as it came, valid for an hour; only when the event is claimed. */
  readonly body_url?: string | undefined;
  /** The payload was left out of this answer because it is over 8 KB; `POST /v1/inbox/claim` returns it. */
  readonly payload_truncated: boolean;
  /** The payload was deleted, 30 days after it arrived. */
  readonly payload_purged: boolean;
  /** Mail: the conversation it belongs to. */
  readonly thread_id?: (string | null) | undefined;
  /** Mail: a safe page with the HTML, valid for an hour. */
  readonly html_url?: (string | null) | undefined;
  /** Mail: the attached files. */
  readonly attachments?: readonly Attachment[] | undefined;
  /** Mail: attached files that were not stored. */
  readonly attachments_blocked?: readonly BlockedAttachment[] | undefined;
  /** Where it is in the queue. */
  readonly status: 'pending' | 'claimed' | 'done' | 'failed' | 'dead' | 'waiting' | (string & {});
  /** How often it failed or its lease ran out. */
  readonly attempts: number;
  /** When a failed event is pending again. */
  readonly retry_at: string | null;
  /** The reason of the latest `POST /v1/inbox/nack`, in any state. */
  readonly reason: string | null;
  /** What it is about, in one line; only in a brief list. */
  readonly gist?: string | undefined;
  /** Parked events only: what has to end before it is pending again. */
  readonly waiting_for?:
    | readonly {
        /** What it waits for: a request, a mail, another event or a time. */
        readonly id: string;
        /** How that stands. */
        readonly status: string;
        /** When it ends at the latest. */
        readonly expires_at: string;
      }[]
    | undefined;
  /** When it was parked. */
  readonly parked_at?: string | undefined;
  /** When it wakes at the latest. */
  readonly wakes_at?: string | undefined;
  /** The result from `POST /v1/inbox/ack`, or null. */
  readonly result: unknown;
}

/** A stored file, without its bytes. */
export interface File {
  /** Where it is stored. */
  readonly path: string;
  /** `disk://…`, accepted wherever a path is. */
  readonly ref: string;
  /** Size of the file. */
  readonly size_bytes: number;
  /** Media type. */
  readonly content_type: string;
  /** When it was last written. */
  readonly updated_at: string;
  /** SHA-256 of the bytes, in hex. */
  readonly sha256: string;
  /** Rises with each write; pass as `if_version`. */
  readonly version: number;
}

/** The answer of `DELETE /v1/files/{path}`. */
export interface FileDeleteAnswer {
  /** False if there was no such file. */
  readonly deleted: boolean;
}

/** The answer of `GET /v1/files/{path}`. */
export interface FileGetAnswer {
  /** Where it is stored. */
  readonly path: string;
  /** `disk://…`, accepted wherever a path is. */
  readonly ref: string;
  /** Size of the file. */
  readonly size_bytes: number;
  /** Media type. */
  readonly content_type: string;
  /** When it was last written. */
  readonly updated_at: string;
  /** SHA-256 of the bytes, in hex. */
  readonly sha256: string;
  /** Rises with each write; pass as `if_version`. */
  readonly version: number;
  /** The bytes, up to 1 MB. */
  readonly content_base64?: string | undefined;
  /** The text, up to 1 MB, if it was asked for. */
  readonly content?: string | undefined;
  /** Above 1 MB: a link to the bytes, valid for 5 minutes without a key. */
  readonly download_url?: string | undefined;
  /** When the link ends. */
  readonly expires_at?: string | undefined;
}

/** One page of a list. */
export interface FilePage {
  /** In byte order of their paths. */
  readonly items: readonly File[];
  /** Pass as `cursor` for the next page; null on the last. */
  readonly next_cursor: string | null;
}

/** The answer of `PUT /v1/files/{path}`. */
export interface FilePutAnswer {
  /** Where it is stored. */
  readonly path?: string | undefined;
  /** `disk://…`, accepted wherever a path is. */
  readonly ref?: string | undefined;
  /** Size of the file. */
  readonly size_bytes?: number | undefined;
  /** Media type. */
  readonly content_type?: string | undefined;
  /** When it was last written. */
  readonly updated_at?: string | undefined;
  /** SHA-256 of the bytes, in hex. */
  readonly sha256?: string | undefined;
  /** Rises with each write; pass as `if_version`. */
  readonly version?: number | undefined;
  /** Only when an upload was opened. */
  readonly status?: 'uploading' | undefined;
  /** Pass it as `complete`. */
  readonly upload_id?: string | undefined;
  /** PUT the bytes here; no key needed. */
  readonly upload_url?: string | undefined;
  /** Send exactly these headers. */
  readonly upload_headers?: Readonly<Record<string, string>> | undefined;
  /** When the upload ends. */
  readonly expires_at?: string | undefined;
}

/** The answer of `POST /v1/file-urls`. */
export interface FileUrlAnswer {
  /** The public link; works without a key. */
  readonly url?: string | undefined;
  /** When the link ends. */
  readonly expires_at?: string | undefined;
  /** The link, for the ledger. */
  readonly link_id?: string | undefined;
  /** Without a link: how the request to people stands. */
  readonly status?:
    | ('pending' | 'denied' | 'needs_context' | 'expired' | (string & {}))
    | undefined;
  /** Pass it as `approval` once it is approved. */
  readonly request_id?: string | undefined;
  /** What the person added. */
  readonly comment?: (string | null) | undefined;
}

/** The answer of `POST /v1/inbox/ack`. */
export interface InboxAckAnswer {
  /** `evt_…`. */
  readonly event_id: string;
  /** Acked events stay done. */
  readonly status: 'done';
  /** When it was acked first. */
  readonly acked_at: string;
  /** JSON kept as text. */
  readonly warnings?: readonly string[] | undefined;
}

/** The answer of `POST /v1/inbox/extend`. */
export interface InboxExtendAnswer {
  /** `evt_…`. */
  readonly event_id: string;
  /** The lease, unchanged. */
  readonly lease_id: string;
  /** When it now ends. */
  readonly lease_expires_at: string;
}

/** The answer of `POST /v1/inbox/nack`. */
export interface InboxNackAnswer {
  /** `evt_…`. */
  readonly event_id: string;
  /** `failed` events are pending again at `retry_at`; `dead` ones stay. */
  readonly status: 'failed' | 'dead' | 'waiting' | 'pending' | (string & {});
  /** Failures so far; the fifth is the last. */
  readonly attempts: number;
  /** How often it was parked. */
  readonly parks?: number | undefined;
  /** What has to end first. */
  readonly waiting_for?:
    | readonly {
        /** A request, a mail, another event or a time. */
        readonly id: string;
        /** How that stands. */
        readonly status: string;
        /** When it ends at the latest. */
        readonly expires_at: string;
      }[]
    | undefined;
  /** When it wakes at the latest. */
  readonly wakes_at?: string | undefined;
  /** When it is pending again. */
  readonly retry_at: string | null;
  /** JSON kept as text. */
  readonly warnings?: readonly string[] | undefined;
}

/** The answer of `POST /v1/inbox/next`. */
export interface InboxNextAnswer {
  /** The claimed events; empty at the time-out. */
  readonly items: readonly ClaimedEvent[];
  /** Why the filter might never match. */
  readonly warnings?: readonly string[] | undefined;
}

/** The answer of `POST /v1/inbox/replay`. */
export interface InboxReplayAnswer {
  /** Events that are pending again. */
  readonly event_ids: readonly string[];
  /** Events left alone. */
  readonly skipped: readonly {
    /** `evt_…`. */
    readonly event_id: string;
    /** Why it was skipped. */
    readonly reason: string;
  }[];
  /** Pass as `cursor` for the next page; null on the last. */
  readonly next_cursor: string | null;
}

/** The answer of `POST /v1/inbox/requeue`. */
export interface InboxRequeueAnswer {
  /** `evt_…`. */
  readonly event_id: string;
  /** It can be claimed. */
  readonly status: 'pending';
}

/** The answer of `GET /v1/inbox/wait`. */
export interface InboxWaitAnswer {
  /** The first match, not claimed; null at the time-out. */
  readonly event: Event | null;
  /** How to get left-out payloads. */
  readonly hint?: string | undefined;
  /** Why the filter might never match. */
  readonly warnings?: readonly string[] | undefined;
}

/** An API key, without its secret. */
export interface Key {
  /** `key_…`. */
  readonly id: string;
  /** What people call it. */
  readonly name: string;
  /** Whether it works. */
  readonly status: 'active' | 'expired' | 'revoked' | (string & {});
  /** The last characters of the secret. */
  readonly last4: string;
  /** What it may do. */
  readonly scopes: readonly (
    | 'admin'
    | 'ledger:read'
    | 'inbox:read'
    | 'inbox:write'
    | 'approvals'
    | 'disk'
    | 'disk:read'
    | 'send'
    | (string & {})
  )[];
  /** The only names on the disk that the key may use start with these. Null: all. */
  readonly disk_prefixes: readonly string[] | null;
  /** When it was created. */
  readonly created_at: string;
  /** Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`. */
  readonly created_by: string | null;
  /** The same for people: a key’s name, a masked address, or `unknown`. */
  readonly maker: string;
  /** When it was last used. */
  readonly last_used_at: string | null;
  /** When it ends; null means never. */
  readonly expires_at: string | null;
  /** When it was revoked. */
  readonly revoked_at: string | null;
  /** The host of the app that a person let in by OAuth; null for other keys. */
  readonly client: string | null;
}

/** The answer of `GET /v1/keys/{id}`. */
export interface KeyGetAnswer {
  /** `key_…`. */
  readonly id: string;
  /** What people call it. */
  readonly name: string;
  /** Whether it works. */
  readonly status: 'active' | 'expired' | 'revoked' | (string & {});
  /** The last characters of the secret. */
  readonly last4: string;
  /** What it may do. */
  readonly scopes: readonly (
    | 'admin'
    | 'ledger:read'
    | 'inbox:read'
    | 'inbox:write'
    | 'approvals'
    | 'disk'
    | 'disk:read'
    | 'send'
    | (string & {})
  )[];
  /** The only names on the disk that the key may use start with these. Null: all. */
  readonly disk_prefixes: readonly string[] | null;
  /** When it was created. */
  readonly created_at: string;
  /** Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`. */
  readonly created_by: string | null;
  /** The same for people: a key’s name, a masked address, or `unknown`. */
  readonly maker: string;
  /** When it was last used. */
  readonly last_used_at: string | null;
  /** When it ends; null means never. */
  readonly expires_at: string | null;
  /** When it was revoked. */
  readonly revoked_at: string | null;
  /** The host of the app that a person let in by OAuth; null for other keys. */
  readonly client: string | null;
  /** What `DELETE /v1/keys/{id}` ends with it. */
  readonly ends: readonly MadeThing[];
  /** What goes on, each with how to end it. */
  readonly stays: readonly LeftThing[];
}

/** One page of a list. */
export interface KeyPage {
  /** Oldest first. */
  readonly items: readonly Key[];
  /** Pass as `cursor` for the next page; null on the last. */
  readonly next_cursor: string | null;
}

/** The answer of `DELETE /v1/keys/{id}`. */
export interface KeyRevokeAnswer {
  /** `key_…`. */
  readonly id: string;
  /** When it stopped working. */
  readonly revoked_at: string;
  /** What ended with it. */
  readonly ended: readonly MadeThing[];
  /** What goes on, each with how to end it. */
  readonly left: readonly LeftThing[];
}

/** The answer of `POST /v1/keys/{id}/rotate`. */
export interface KeyRotateAnswer {
  /** `key_…`. */
  readonly id: string;
  /** What people call it. */
  readonly name: string;
  /** Whether it works. */
  readonly status: 'active' | 'expired' | 'revoked' | (string & {});
  /** The last characters of the secret. */
  readonly last4: string;
  /** What it may do. */
  readonly scopes: readonly (
    | 'admin'
    | 'ledger:read'
    | 'inbox:read'
    | 'inbox:write'
    | 'approvals'
    | 'disk'
    | 'disk:read'
    | 'send'
    | (string & {})
  )[];
  /** The only names on the disk that the key may use start with these. Null: all. */
  readonly disk_prefixes: readonly string[] | null;
  /** When it was created. */
  readonly created_at: string;
  /** Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`. */
  readonly created_by: string | null;
  /** The same for people: a key’s name, a masked address, or `unknown`. */
  readonly maker: string;
  /** When it was last used. */
  readonly last_used_at: string | null;
  /** When it ends; null means never. */
  readonly expires_at: string | null;
  /** When it was revoked. */
  readonly revoked_at: string | null;
  /** The host of the app that a person let in by OAuth; null for other keys. */
  readonly client: string | null;
  /** The secret, shown only once. */
  readonly api_key: string;
  /** What ended with it. */
  readonly ended: readonly MadeThing[];
  /** What goes on, each with how to end it. */
  readonly left: readonly LeftThing[];
}

/** An API key with its secret. */
export interface KeyWithSecret {
  /** `key_…`. */
  readonly id: string;
  /** What people call it. */
  readonly name: string;
  /** Whether it works. */
  readonly status: 'active' | 'expired' | 'revoked' | (string & {});
  /** The last characters of the secret. */
  readonly last4: string;
  /** What it may do. */
  readonly scopes: readonly (
    | 'admin'
    | 'ledger:read'
    | 'inbox:read'
    | 'inbox:write'
    | 'approvals'
    | 'disk'
    | 'disk:read'
    | 'send'
    | (string & {})
  )[];
  /** The only names on the disk that the key may use start with these. Null: all. */
  readonly disk_prefixes: readonly string[] | null;
  /** When it was created. */
  readonly created_at: string;
  /** Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`. */
  readonly created_by: string | null;
  /** The same for people: a key’s name, a masked address, or `unknown`. */
  readonly maker: string;
  /** When it was last used. */
  readonly last_used_at: string | null;
  /** When it ends; null means never. */
  readonly expires_at: string | null;
  /** When it was revoked. */
  readonly revoked_at: string | null;
  /** The host of the app that a person let in by OAuth; null for other keys. */
  readonly client: string | null;
  /** The secret, shown only once. */
  readonly api_key: string;
}

/** The answer of `DELETE /v1/kv/{key}`. */
export interface KvDeleteAnswer {
  /** False if there was no such key. */
  readonly deleted: boolean;
}

/** A key with its value. */
export interface KvEntry {
  /** The key. */
  readonly key: string;
  /** The stored JSON. */
  readonly value: unknown;
  /** When the key ends; null means never. */
  readonly expires_at: string | null;
  /** When it was last written. */
  readonly updated_at: string;
  /** Rises with each write; pass as `if_version`. */
  readonly version: number;
}

/** The answer of `POST /v1/kv-incr`. */
export interface KvIncrAnswer {
  /** The key. */
  readonly key: string;
  /** The value after adding. */
  readonly value: number;
  /** When the key ends; null means never. */
  readonly expires_at: string | null;
  /** Rises with each write; pass as `if_version`. */
  readonly version: number;
}

/** A key; with its value only if asked for. */
export interface KvKey {
  /** The key. */
  readonly key: string;
  /** Size of the stored JSON. */
  readonly size_bytes: number;
  /** When the key ends; null means never. */
  readonly expires_at: string | null;
  /** When it was last written. */
  readonly updated_at: string;
  /** Rises with each write; pass as `if_version`. */
  readonly version: number;
  /** The stored JSON, if `values` was asked for. */
  readonly value?: unknown;
}

/** One page of a list. */
export interface KvKeyPage {
  /** In byte order. */
  readonly items: readonly KvKey[];
  /** Pass as `cursor` for the next page; null on the last. */
  readonly next_cursor: string | null;
}

/** The answer of `POST /v1/kv-mget`. */
export interface KvMgetAnswer {
  /** In the order of `keys`; null where a key is missing or expired. */
  readonly items: readonly (KvEntry | null)[];
}

/** The answer of `PUT /v1/kv/{key}`. */
export interface KvSetAnswer {
  /** The key. */
  readonly key: string;
  /** Size of the stored JSON. */
  readonly size_bytes: number;
  /** When the key ends; null means never. */
  readonly expires_at: string | null;
  /** Rises with each write; pass as `if_version`. */
  readonly version: number;
  /** JSON kept as text. */
  readonly warnings?: readonly string[] | undefined;
}

/** The answer of `POST /v1/kv-touch`. */
export interface KvTouchAnswer {
  /** The key. */
  readonly key: string;
  /** When the key ends; null means never. */
  readonly expires_at: string | null;
  /** Unchanged by this call. */
  readonly version: number;
}

/** One entry of the hash-chained record. */
export interface LedgerEntry {
  /** Position in the chain, from 1. */
  readonly seq: number;
  /** When it happened. */
  readonly at: string;
  /** The operation, such as `inbox_ack`. */
  readonly op: string;
  /** Who did it: the id of a key, a person's channel, a member or a source; `policy:<rule>`, `operator` or `service`. Null in entries from before this was recorded. */
  readonly actor: string | null;
  /** The agent, as it calls itself. */
  readonly agent: string | null;
  /** The agent's platform; for people `web`, `link` or `telegram`. */
  readonly platform: string | null;
  /** The API key, if one did it. */
  readonly key_id: string | null;
  /** Id of the object it touched. */
  readonly subject: string | null;
  /** X-Request-Id of the call. */
  readonly request_id: string | null;
  /** Whether it succeeded. */
  readonly outcome: 'ok' | 'error' | (string & {});
  /** The error code, if it failed. */
  readonly code: string | null;
  /** SHA-256 of the input. */
  readonly input_digest: string | null;
  /** SHA-256 of the answer. */
  readonly result_digest: string | null;
  /** `hash` of the entry before. */
  readonly prev_hash: string;
  /** SHA-256 over the entry and `prev_hash`. */
  readonly hash: string;
}

/** One page of a list. */
export interface LedgerEntryPage {
  /** Newest first. */
  readonly items: readonly LedgerEntry[];
  /** Pass as `cursor` for the next page; null on the last. */
  readonly next_cursor: number | null;
}

/** The answer of `POST /v1/ledger/verify`. */
export interface LedgerVerifyAnswer {
  /** Whether the chain is intact. */
  readonly ok: boolean;
  /** First entry checked. */
  readonly from_seq: number;
  /** Last entry checked. */
  readonly to_seq: number;
  /** How many entries. */
  readonly checked: number;
  /** Whether it started at entry 1; otherwise it trusts the stored hash before it. */
  readonly anchored: boolean;
  /** The first entry that does not fit. */
  readonly first_bad_seq: number | null;
  /** What does not fit. */
  readonly reason:
    | ('hash_mismatch' | 'link_broken' | 'seq_gap' | 'truncated' | (string & {}))
    | null;
  /** The newest entry of the chain. */
  readonly head: {
    /** Its position. */
    readonly seq: number;
    /** Its hash: keep it, to notice later changes. */
    readonly hash: string;
    /** When it was written. */
    readonly at: string;
  } | null;
}

/** Something that goes on after its maker has ended. */
export interface LeftThing {
  /** What it is. */
  readonly kind:
    | 'key'
    | 'route'
    | 'invitation'
    | 'member'
    | 'channel'
    | 'source'
    | 'request'
    | 'email'
    | 'file_link'
    | 'upload'
    | 'browser'
    | 'callback_secret'
    | (string & {});
  /** Its id; for a source its name. */
  readonly id: string;
  /** What people call it: a name, an address, a URL or a path. */
  readonly name: string;
  /** Why it goes on, and how to end it. */
  readonly hint: string;
}

/** Something that gives access on its own, once somebody has made it. */
export interface MadeThing {
  /** What it is. */
  readonly kind:
    | 'key'
    | 'route'
    | 'invitation'
    | 'member'
    | 'channel'
    | 'source'
    | 'request'
    | 'email'
    | 'file_link'
    | 'upload'
    | 'browser'
    | 'callback_secret'
    | (string & {});
  /** Its id; for a source its name. */
  readonly id: string;
  /** What people call it: a name, an address, a URL or a path. */
  readonly name: string;
}

/** A person who shares the project. */
export interface Member {
  /** `mbr_…`. */
  readonly id: string;
  /** What they may do and decide. */
  readonly role: 'owner' | 'admin' | 'member' | 'approver' | 'viewer' | (string & {});
  /** Masked. */
  readonly address: string | null;
  /** `asked`: an owner must approve the invitation first. */
  readonly status: 'asked' | 'invited' | 'active' | 'removed' | (string & {});
  /** Where they are asked; null if they decide nothing. */
  readonly channel_id: string | null;
  /** The key or the member that invited them. */
  readonly invited_by: string | null;
  /** The same for people; null for who founded the project. */
  readonly inviter: string | null;
  /** When they were invited. */
  readonly created_at: string;
  /** When the invitation expires; null if it has none. */
  readonly expires_at: string | null;
  /** When they accepted. */
  readonly joined_at: string | null;
}

/** The answer of `POST /v1/members`. */
export interface MemberInviteAnswer {
  readonly member: Member;
  /** The request that an owner decides first. */
  readonly request_id: string | null;
}

/** One page of a list. */
export interface MemberPage {
  /** Owners first. */
  readonly items: readonly Member[];
  /** Always null: a project has few members. */
  readonly next_cursor: string | null;
}

/** The answer of `DELETE /v1/members/{id}`. */
export interface MemberRemoveAnswer {
  /** The member. */
  readonly id: string;
  /** Null while an owner must decide first. */
  readonly removed_at: string | null;
  /** The keys that ended. */
  readonly revoked_keys: readonly string[];
  /** Those that they or their keys added. */
  readonly removed_channels: readonly string[];
  /** What ended with it. */
  readonly ended: readonly MadeThing[];
  /** What goes on, each with how to end it. */
  readonly left: readonly LeftThing[];
  /** The request that an owner decides first. */
  readonly request_id: string | null;
}

/** The answer of `POST /v1/members/{id}/role`. */
export interface MemberRoleAnswer {
  readonly member: Member;
  /** The request that an owner decides first. */
  readonly request_id: string | null;
}

/** The policy in force. */
export interface Policy {
  /** Rises with each change; 0 means no policy. */
  readonly version: number;
  /** The first rule whose conditions all match decides. */
  readonly rules: readonly PolicyRule[];
  /** What the agent said about the change. */
  readonly note: string | null;
  /** The channel that approved it. */
  readonly approved_by: string | null;
  /** When it came into force. */
  readonly approved_at: string | null;
}

/** The answer of `POST /v1/policy/diff`. */
export interface PolicyDiffAnswer {
  /** The version compared with. */
  readonly version: number;
  /** False if nothing would change. */
  readonly changed: boolean;
  /** `+ …` added, `- …` removed, `  …` unchanged. */
  readonly lines: readonly string[];
  /** Rules that can never decide, and the like. */
  readonly warnings: readonly {
    /** Id of the rule. */
    readonly rule: string;
    /** What is wrong with it. */
    readonly message: string;
  }[];
}

/** The whole document, `{"rules": […]}`. */
export interface PolicyDocument {
  /** The first rule whose conditions all match decides; a rule without conditions matches everything. */
  readonly rules: readonly {
    /** Made up if omitted. */
    readonly id?: string | undefined;
    /** `require_approval`: a person decides. `auto_approve_notify`: approved, and people are told. */
    readonly effect:
      | 'allow'
      | 'deny'
      | 'require_approval'
      | 'auto_approve'
      | 'auto_approve_notify'
      | (string & {});
    /** Exact, or a prefix and `*`. */
    readonly action?: (string | readonly string[]) | undefined;
    /** For links and mails, which have no action. */
    readonly tool?: (('file_url' | 'email_send' | (string & {})) | readonly string[]) | undefined;
    /** Without its sign. */
    readonly amount_gt?: number | undefined;
    /** Without its sign. */
    readonly amount_lte?: number | undefined;
    /** Default `/amount`. */
    readonly amount_at?: string | undefined;
    /** As stated by the agent. */
    readonly risk?: (('low' | 'medium' | 'high' | (string & {})) | readonly string[]) | undefined;
    /** `{"/currency":"EUR","/fee":{"lte":5}}`. */
    readonly bind?: Readonly<Record<string, unknown>> | undefined;
    /** `example.com`, `*.example.com`. */
    readonly recipient_domains?: readonly string[] | undefined;
    /** Channels to ask. */
    readonly approvers?: readonly string[] | undefined;
    /** How many must approve. */
    readonly approvals?: number | undefined;
    /** For people. */
    readonly description?: string | undefined;
  }[];
}

/** A rule in normal form: with an id, and lists where callers may write a single value. */
export interface PolicyRule {
  /** Its name in answers and in the ledger. */
  readonly id: string;
  /** What happens if the rule decides. */
  readonly effect:
    | 'allow'
    | 'deny'
    | 'require_approval'
    | 'auto_approve'
    | 'auto_approve_notify'
    | (string & {});
  /** Any of these: exact, or a prefix and `*`. */
  readonly action?: readonly string[] | undefined;
  /** Any of these tools. */
  readonly tool?: readonly ('file_url' | 'email_send' | (string & {}))[] | undefined;
  /** The amount is at most this, without its sign. */
  readonly amount_lte?: number | undefined;
  /** The amount is more than this, without its sign. */
  readonly amount_gt?: number | undefined;
  /** Where bound values have the amount, as a JSON pointer (default `/amount`). */
  readonly amount_at?: string | undefined;
  /** Any of these. */
  readonly risk?: readonly ('low' | 'medium' | 'high' | (string & {}))[] | undefined;
  /** Tests of bound values, by JSON pointer. A missing value never fits. */
  readonly bind?:
    | Readonly<
        Record<
          string,
          {
            /** Any of these. */
            readonly in?: readonly (string | number | boolean)[] | undefined;
            /** A text that begins so. */
            readonly prefix?: string | undefined;
            /** More than this, without its sign. */
            readonly gt?: number | undefined;
            /** At most this, without its sign. */
            readonly lte?: number | undefined;
            /** A shell line of these commands, `git log *` with any further words: only these for effects that let it pass, one of these for others. */
            readonly command?: readonly string[] | undefined;
            /** A path in one of these folders. Links are not followed. */
            readonly under?: readonly string[] | undefined;
          }
        >
      >
    | undefined;
  /** `example.com`, `*.example.com`: every recipient for effects that let a mail pass, any recipient for others. */
  readonly recipient_domains?: readonly string[] | undefined;
  /** Channels that are asked. */
  readonly approvers?: readonly string[] | undefined;
  /** How many people must approve. */
  readonly approvals?: number | undefined;
  /** For people. */
  readonly description?: string | undefined;
}

/** The answer of `PUT /v1/policy`. */
export interface PolicySetAnswer {
  /** `req_…`. */
  readonly request_id: string;
  /** Only `approved` and `modified` mean yes. */
  readonly status:
    | 'pending'
    | 'approved'
    | 'denied'
    | 'modified'
    | 'needs_context'
    | 'expired'
    | 'answered'
    | (string & {});
  /** The chosen option (`modified`) or the answer (`answered`). */
  readonly decision: string | null;
  /** What the person added. */
  readonly comment: string | null;
  /** What to do next. */
  readonly hint: string | null;
  /** `channel:<id>` or `policy:<rule>`. */
  readonly decided_by: string | null;
  /** As you gave it. */
  readonly state_ref: string | null;
  /** Without a decision it expires then. */
  readonly expires_at: string;
  /** While it is pending: when to call `GET /v1/requests/{id}` again. */
  readonly poll_after_seconds: number | null;
  /** Rules that can never decide, and the like. */
  readonly warnings: readonly {
    /** Id of the rule. */
    readonly rule: string;
    /** What is wrong with it. */
    readonly message: string;
  }[];
}

/** The answer of `GET /v1/policy/suggestions`. */
export interface PolicySuggestAnswer {
  /** Rules that would save people work. */
  readonly items: readonly PolicySuggestion[];
}

/** A rule that would decide what people always approved. */
export interface PolicySuggestion {
  /** The action that people always approved. */
  readonly action: string;
  /** All requests for this action that people decided. */
  readonly approved: number;
  /** Counted from this time. */
  readonly since: string;
  /** The oldest of them. */
  readonly first_at: string;
  /** The newest of them. */
  readonly last_at: string;
  /** How many people, as far as they are surely different. */
  readonly by: number;
  readonly rule: PolicyRule;
  /** The rule to put it before. Null: it goes to the end. */
  readonly before: string | null;
  /** The newest requests. */
  readonly examples: readonly string[];
}

/** The answer of `POST /v1/policy/test`. */
export interface PolicyTestAnswer {
  /** Null if you passed a document. */
  readonly version: number | null;
  /** What would happen. */
  readonly effect:
    | 'allow'
    | 'deny'
    | 'require_approval'
    | 'auto_approve'
    | 'auto_approve_notify'
    | (string & {});
  /** The rule that decides; null if none matches, so a person decides. */
  readonly rule: string | null;
  /** The same in words. */
  readonly sentence: string;
  /** Each rule in order. */
  readonly trace: readonly {
    /** Id of the rule. */
    readonly rule: string;
    /** What it would do. */
    readonly effect:
      | 'allow'
      | 'deny'
      | 'require_approval'
      | 'auto_approve'
      | 'auto_approve_notify'
      | (string & {});
    /** The rule in words. */
    readonly says: string;
    /** Whether its conditions hold. */
    readonly matched: boolean;
    /** Whether it is the first that matches. */
    readonly decides: boolean;
    /** Conditions that do not hold. */
    readonly failed: readonly {
      /** The condition. */
      readonly field: string;
      /** What it requires. */
      readonly wanted: string;
      /** What the call has. */
      readonly given: string;
    }[];
  }[];
}

/** The answer of project_create. */
export interface ProjectCreateAnswer {
  /** The project of the key. */
  readonly project: {
    /** `prj_…`. */
    readonly id: string;
    /** Its name in addresses. */
    readonly slug: string;
    /** What people call it. */
    readonly name: string;
    /** When it was created. */
    readonly created_at: string;
  };
  /** The new key. */
  readonly key: {
    /** `key_…`. */
    readonly id: string;
    /** What people call it. */
    readonly name: string;
    /** What it may do. */
    readonly scopes: readonly (
      | 'admin'
      | 'ledger:read'
      | 'inbox:read'
      | 'inbox:write'
      | 'approvals'
      | 'disk'
      | 'disk:read'
      | 'send'
      | (string & {})
    )[];
    /** When it was created. */
    readonly created_at: string;
  };
  /** The secret, shown only once. */
  readonly api_key: string;
  /** Addresses of this server. */
  readonly urls: {
    /** Base of REST. */
    readonly api: string;
    /** The MCP endpoint. */
    readonly mcp: string;
    /** Base of webhook addresses. */
    readonly hooks: string;
  };
  /** The owner's, active. */
  readonly channel: {
    /** `chn_…`. */
    readonly id: string;
    /** How the person is reached. */
    readonly kind: 'email' | 'telegram' | (string & {});
    /** A short name. */
    readonly label: string;
    /** Masked; null for Telegram. */
    readonly address: string | null;
    /** Only an active channel is asked. */
    readonly status: 'added' | 'verified' | 'active' | 'removed' | (string & {});
    /** Whether it is the owner's. */
    readonly owner: boolean;
    /** When it was added. */
    readonly created_at: string;
    /** Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`. */
    readonly created_by: string | null;
    /** The same for people: a key’s name, a masked address, or `unknown`. */
    readonly maker: string;
    /** When the person confirmed the address. */
    readonly verified_at: string | null;
    /** When the owner approved it. */
    readonly activated_at: string | null;
    /** When a person last decided through it. */
    readonly last_used_at: string | null;
    /** Whose an owner said it is: another channel of the person, or this one if they have no other. */
    readonly person_of: string | null;
  };
}

/** The answer of `DELETE /v1/project`. */
export interface ProjectDeleteAnswer {
  /** False if an owner decides first. */
  readonly deleted: boolean;
  /** The request that an owner decides first. */
  readonly request_id: string | null;
}

/** The answer of `PUT /v1/project`. */
export interface ProjectRenameAnswer {
  /** The project. */
  readonly project: {
    /** `prj_…`. */
    readonly id: string;
    /** Part of addresses and links. */
    readonly slug: string;
    /** The new name, or the old one until an owner allows it. */
    readonly name: string;
  };
  /** The request that an owner decides first. */
  readonly request_id: string | null;
}

/** A question to people, and what became of it. */
export interface Request {
  /** `req_…`. */
  readonly request_id: string;
  /** An approval or a question. */
  readonly kind:
    | 'approval'
    | 'question'
    | 'policy'
    | 'file_url'
    | 'email_send'
    | 'channel'
    | 'member'
    | (string & {});
  /** Only `approved` and `modified` mean yes. */
  readonly status:
    | 'pending'
    | 'approved'
    | 'denied'
    | 'modified'
    | 'needs_context'
    | 'expired'
    | 'answered'
    | (string & {});
  /** What the agent wants to do, as policies match it. */
  readonly action: string | null;
  /** The line that people read first. */
  readonly summary: string;
  /** What people need to decide. */
  readonly details: string | null;
  /** As the agent stated it. */
  readonly risk: ('low' | 'medium' | 'high' | (string & {})) | null;
  /** As the agent stated it. */
  readonly amount: number | null;
  /** What people are warned of, such as another bound amount. */
  readonly warnings: readonly string[];
  /** What was asked, if it is a question. */
  readonly question: string | null;
  /** Choices offered besides approve and deny. */
  readonly options: readonly string[];
  /** The chosen option (`modified`) or the answer (`answered`). */
  readonly decision: string | null;
  /** What the person added. */
  readonly comment: string | null;
  /** What to do next. */
  readonly hint: string | null;
  /** `channel:<id>` or `policy:<rule>`. */
  readonly decided_by: string | null;
  /** When it was decided or expired. */
  readonly decided_at: string | null;
  /** When it was asked. */
  readonly created_at: string;
  /** Without a decision it expires then. */
  readonly expires_at: string;
  /** Who asked. */
  readonly requested_by: {
    /** The API key. */
    readonly key_id: string;
    /** The agent, as it calls itself. */
    readonly agent: string | null;
    /** The agent's platform. */
    readonly platform: string;
  };
  /** Channels asked; empty means all active ones. */
  readonly approvers: readonly string[];
  /** Messages sent to people. */
  readonly notified: readonly {
    /** The channel, `chn_…`. */
    readonly channel_id: string;
    /** `email` or `telegram`. */
    readonly kind: string;
    /** Whether the message went out. */
    readonly status: string;
    /** When it was sent or queued. */
    readonly at: string | null;
  }[];
  /** The policy that was in force. */
  readonly policy_version: number;
  /** The policy rule that matched. */
  readonly rule: string | null;
  /** As the agent gave it. */
  readonly state_ref: string | null;
  /** Where `request.resolved` is sent. */
  readonly callback_url: string | null;
  /** The event it is about. */
  readonly event_id: string | null;
  /** The exact values that were shown to people. */
  readonly bind: unknown;
  /** When the approval was used. */
  readonly spent_at: string | null;
  /** What used it. */
  readonly spent_by: string | null;
  /** For rules that need several people. */
  readonly approvals: {
    /** How many people must approve. */
    readonly needed: number;
    /** Approvals so far. */
    readonly given: readonly {
      /** Who approved. */
      readonly channel_id: string;
      /** When. */
      readonly at: string;
    }[];
  };
}

/** The answer of `POST /v1/request-callback-secret`. */
export interface RequestCallbackSecretAnswer {
  /** Receivers check signatures with it; shown only once. */
  readonly secret: string;
  /** When it was created. */
  readonly created_at: string;
  /** When the old secret stops signing. */
  readonly previous_valid_until: string | null;
}

/** One page of a list. */
export interface RequestPage {
  /** Newest first. */
  readonly items: readonly Request[];
  /** Pass as `cursor` for the next page; null on the last. */
  readonly next_cursor: string | null;
}

/** The answer of `POST /v1/requests/{id}/received`. */
export interface RequestReceivedAnswer {
  /** `req_…`. */
  readonly request_id: string;
  /** False if no event was left to close. */
  readonly closed: boolean;
  /** The event that is done now. */
  readonly event_id: string | null;
}

/** The answer of `POST /v1/requests/{id}/use`. */
export interface RequestUseAnswer {
  /** `req_…`. */
  readonly request_id: string;
  /** It was a yes. */
  readonly status: 'approved' | 'modified' | (string & {});
  /** The chosen option. */
  readonly decision: string | null;
  /** What the person added. */
  readonly comment: string | null;
  /** When it was used. */
  readonly spent_at: string;
  /** What used it. */
  readonly spent_by: string;
}

/** The answer of `POST /v1/requests/{id}/withdraw`. */
export interface RequestWithdrawAnswer {
  /** `req_…`. */
  readonly request_id: string;
  /** How it stands now. */
  readonly status:
    | 'pending'
    | 'approved'
    | 'denied'
    | 'modified'
    | 'needs_context'
    | 'expired'
    | 'answered'
    | (string & {});
  /** False if it was decided before. */
  readonly withdrawn: boolean;
  /** Why it ended. */
  readonly hint: string | null;
}

/** Why a parked event is back. */
export interface Resumed {
  /** How often it was parked. */
  readonly parks: number;
  /** What woke it: an id, a time, `now`, or `requeued`. */
  readonly because: string;
  /** What it waited for. */
  readonly waited_for: readonly {
    /** A request, a mail, another event or a time. */
    readonly id: string;
    /** How it ended. */
    readonly status: string;
  }[];
  /** Decisions on the requests it waited for. */
  readonly answers: readonly {
    /** `req_…`. */
    readonly request_id: string;
    /** How it was decided. */
    readonly status: string;
    /** The chosen option or the answer. */
    readonly decision: string | null;
    /** What the person added. */
    readonly comment: string | null;
    /** `channel:<id>` or `policy:<rule>`. */
    readonly decided_by: string | null;
    /** When it was decided. */
    readonly decided_at: string | null;
  }[];
  /** What the agent stored when it parked the event. */
  readonly state: unknown;
}

/** Where matching events are sent. */
export interface Route {
  /** `rte_…`. */
  readonly id: string;
  /** Where events are sent. */
  readonly callback_url: string;
  /** Only events of this source; null means all. */
  readonly match_source: string | null;
  /** Only this type, or a prefix and `*`; null means all. */
  readonly match_type: string | null;
  /** False after a 410 Gone answer or `POST /v1/routes/{id}/disable`. */
  readonly enabled: boolean;
  /** Why it is disabled. */
  readonly disabled_reason: string | null;
  /** When it was added. */
  readonly created_at: string;
  /** Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`. */
  readonly created_by: string | null;
  /** The same for people: a key’s name, a masked address, or `unknown`. */
  readonly maker: string;
}

/** The answer of `POST /v1/routes`. */
export interface RouteAddAnswer {
  /** `rte_…`. */
  readonly id: string;
  /** Where events are sent. */
  readonly callback_url: string;
  /** Only events of this source; null means all. */
  readonly match_source: string | null;
  /** Only this type, or a prefix and `*`; null means all. */
  readonly match_type: string | null;
  /** False after a 410 Gone answer or `POST /v1/routes/{id}/disable`. */
  readonly enabled: boolean;
  /** Why it is disabled. */
  readonly disabled_reason: string | null;
  /** When it was added. */
  readonly created_at: string;
  /** Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`. */
  readonly created_by: string | null;
  /** The same for people: a key’s name, a masked address, or `unknown`. */
  readonly maker: string;
  /** Receivers check signatures with it; shown only once. */
  readonly secret: string;
  /** Why the route might never match. */
  readonly warnings: readonly string[];
}

/** One try to deliver an event. */
export interface RouteAttempt {
  /** From 1. */
  readonly attempt: number;
  /** When it was sent. */
  readonly at: string;
  /** Null if no answer came. */
  readonly status_code: number | null;
  /** How long the receiver took. */
  readonly duration_ms: number;
  /** Why it failed. */
  readonly error: string | null;
  /** The first 1 KB of the answer. */
  readonly response: string | null;
}

/** An event on its way to a callback. */
export interface RouteDelivery {
  /** `dlv_…`. */
  readonly delivery_id: string;
  /** `evt_…`. */
  readonly event_id: string;
  /** Type of the event. */
  readonly event_type: string;
  /** `dead` after the last attempt failed. */
  readonly status: 'pending' | 'delivered' | 'dead' | 'cancelled' | (string & {});
  /** How many attempts so far. */
  readonly attempts: number;
  /** When it is tried again. */
  readonly next_attempt_at: string | null;
  /** When the event matched. */
  readonly created_at: string;
  /** When it was delivered or given up. */
  readonly finished_at: string | null;
  /** Newest first. */
  readonly log: readonly RouteAttempt[];
}

/** One page of a list. */
export interface RouteDeliveryPage {
  /** Newest first. */
  readonly items: readonly RouteDelivery[];
  /** Pass as `cursor` for the next page; null on the last. */
  readonly next_cursor: string | null;
}

/** The answer of `POST /v1/routes/{id}/enable`. */
export interface RouteEnableAnswer {
  /** `rte_…`. */
  readonly id: string;
  /** Where events are sent. */
  readonly callback_url: string;
  /** Only events of this source; null means all. */
  readonly match_source: string | null;
  /** Only this type, or a prefix and `*`; null means all. */
  readonly match_type: string | null;
  /** False after a 410 Gone answer or `POST /v1/routes/{id}/disable`. */
  readonly enabled: boolean;
  /** Why it is disabled. */
  readonly disabled_reason: string | null;
  /** When it was added. */
  readonly created_at: string;
  /** Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`. */
  readonly created_by: string | null;
  /** The same for people: a key’s name, a masked address, or `unknown`. */
  readonly maker: string;
  /** Deliveries due now. */
  readonly resumed: number;
  /** True if there are more: call again. */
  readonly more: boolean;
}

/** The answer of `DELETE /v1/routes/{id}`. */
export interface RouteRemoveAnswer {
  /** `rte_…`. */
  readonly id: string;
  /** When it was removed. */
  readonly removed_at: string;
}

/** The answer of `POST /v1/routes/{id}/retry`. */
export interface RouteRetryAnswer {
  /** `rte_…`. */
  readonly route_id: string;
  /** Deliveries due now. */
  readonly retried: number;
  /** True if there are more: call again. */
  readonly more: boolean;
}

/** The answer of `POST /v1/routes/{id}/test`. */
export interface RouteTestAnswer {
  /** The `webhook-id` sent. */
  readonly event_id: string;
  /** True for a 2xx answer. */
  readonly delivered: boolean;
  /** HTTP status; null if no answer came. */
  readonly status_code: number | null;
  /** How long the receiver took. */
  readonly duration_ms: number;
  /** Why it failed. */
  readonly error: string | null;
  /** The first 1 KB of the answer. */
  readonly response: string | null;
}

/** A route with its open deliveries. */
export interface RouteWithCounts {
  /** `rte_…`. */
  readonly id: string;
  /** Where events are sent. */
  readonly callback_url: string;
  /** Only events of this source; null means all. */
  readonly match_source: string | null;
  /** Only this type, or a prefix and `*`; null means all. */
  readonly match_type: string | null;
  /** False after a 410 Gone answer or `POST /v1/routes/{id}/disable`. */
  readonly enabled: boolean;
  /** Why it is disabled. */
  readonly disabled_reason: string | null;
  /** When it was added. */
  readonly created_at: string;
  /** Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`. */
  readonly created_by: string | null;
  /** The same for people: a key’s name, a masked address, or `unknown`. */
  readonly maker: string;
  /** Deliveries waiting for an attempt. */
  readonly pending: number;
  /** Deliveries given up; see `POST /v1/routes/{id}/retry`. */
  readonly dead: number;
}

/** One page of a list. */
export interface RouteWithCountsPage {
  /** Oldest first. */
  readonly items: readonly RouteWithCounts[];
  /** Always null: the list has one page. */
  readonly next_cursor: string | null;
}

/** The answer of `POST /v1/session/hello`. */
export interface SessionHelloAnswer {
  /** As given. */
  readonly agent: string;
  /** One of the known platforms, otherwise `custom`. */
  readonly platform: string;
  /** When the session began. */
  readonly started_at: string;
}

/** Where events come from. */
export interface Source {
  /** Unique in the project. */
  readonly name: string;
  /** What it receives. */
  readonly type: 'webhook' | 'email' | (string & {});
  /** How deliveries are signed; `none` accepts anyone with the URL. */
  readonly verification:
    | 'stripe'
    | 'github'
    | 'hmac_sha256'
    | 'standard_webhooks'
    | 'none'
    | 'adyen'
    | 'asana'
    | 'bitbucket'
    | 'cloudevents'
    | 'docusign'
    | 'dropbox'
    | 'gitlab'
    | 'hubspot'
    | 'intercom'
    | 'linear'
    | 'mailgun'
    | 'meta'
    | 'microsoft_graph'
    | 'okta'
    | 'pagerduty'
    | 'paypal'
    | 'postmark'
    | 'sendgrid'
    | 'sentry'
    | 'shopify'
    | 'slack'
    | 'square'
    | 'trello'
    | 'twilio'
    | 'typeform'
    | 'zendesk'
    | 'zoom'
    | (string & {});
  /** `hmac_sha256`: the signature's header. */
  readonly signature_header: string | null;
  /** Where to send webhooks; for mail, where a mail server can POST whole mails. */
  readonly url: string | null;
  /** Mail: the project's address. */
  readonly address: string | null;
  /** When it was added. */
  readonly created_at: string;
  /** How long the previous secret stays valid; null if there is none. */
  readonly previous_secret_valid_until: string | null;
  /** Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`. */
  readonly created_by: string | null;
  /** The same for people: a key’s name, a masked address, or `unknown`. */
  readonly maker: string;
  /** Who set the secret, as `maker`; null without a secret. */
  readonly secret_maker: string | null;
}

/** The answer of `DELETE /v1/sources/{name}`. */
export interface SourceRemoveAnswer {
  /** The source. */
  readonly name: string;
  /** When it stopped accepting webhooks. */
  readonly removed_at: string;
}

/** The answer of `POST /v1/sources/{name}/rotate`. */
export interface SourceRotateAnswer {
  /** The source. */
  readonly name: string;
  /** How deliveries are signed. */
  readonly verification:
    | 'stripe'
    | 'github'
    | 'hmac_sha256'
    | 'standard_webhooks'
    | 'none'
    | 'adyen'
    | 'asana'
    | 'bitbucket'
    | 'cloudevents'
    | 'docusign'
    | 'dropbox'
    | 'gitlab'
    | 'hubspot'
    | 'intercom'
    | 'linear'
    | 'mailgun'
    | 'meta'
    | 'microsoft_graph'
    | 'okta'
    | 'pagerduty'
    | 'paypal'
    | 'postmark'
    | 'sendgrid'
    | 'sentry'
    | 'shopify'
    | 'slack'
    | 'square'
    | 'trello'
    | 'twilio'
    | 'typeform'
    | 'zendesk'
    | 'zoom'
    | (string & {});
  /** When the new secret came into force. */
  readonly rotated_at: string;
  /** When the old secret stops working. */
  readonly previous_valid_until: string | null;
}

/** The answer of `POST /v1/sources/{name}/sign`. */
export interface SourceSignAnswer {
  /** Where to POST the body. */
  readonly url: string;
  /** Headers to send with it. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body to send instead, for senders that sign in it; otherwise null. */
  readonly body_base64: string | null;
}

/** A source with what has reached it. */
export interface SourceWithCounts {
  /** Unique in the project. */
  readonly name: string;
  /** What it receives. */
  readonly type: 'webhook' | 'email' | (string & {});
  /** How deliveries are signed; `none` accepts anyone with the URL. */
  readonly verification:
    | 'stripe'
    | 'github'
    | 'hmac_sha256'
    | 'standard_webhooks'
    | 'none'
    | 'adyen'
    | 'asana'
    | 'bitbucket'
    | 'cloudevents'
    | 'docusign'
    | 'dropbox'
    | 'gitlab'
    | 'hubspot'
    | 'intercom'
    | 'linear'
    | 'mailgun'
    | 'meta'
    | 'microsoft_graph'
    | 'okta'
    | 'pagerduty'
    | 'paypal'
    | 'postmark'
    | 'sendgrid'
    | 'sentry'
    | 'shopify'
    | 'slack'
    | 'square'
    | 'trello'
    | 'twilio'
    | 'typeform'
    | 'zendesk'
    | 'zoom'
    | (string & {});
  /** `hmac_sha256`: the signature's header. */
  readonly signature_header: string | null;
  /** Where to send webhooks; for mail, where a mail server can POST whole mails. */
  readonly url: string | null;
  /** Mail: the project's address. */
  readonly address: string | null;
  /** When it was added. */
  readonly created_at: string;
  /** How long the previous secret stays valid; null if there is none. */
  readonly previous_secret_valid_until: string | null;
  /** Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`. */
  readonly created_by: string | null;
  /** The same for people: a key’s name, a masked address, or `unknown`. */
  readonly maker: string;
  /** Who set the secret, as `maker`; null without a secret. */
  readonly secret_maker: string | null;
  /** When the last event arrived. */
  readonly last_event_at: string | null;
  /** Events of the last 24 hours. */
  readonly events_24h: number;
  /** Deliveries refused in the last 24 hours. */
  readonly rejected_24h: number;
  /** Deliveries of the last 24 hours that made no event, because they had no id and the bytes of an earlier one. */
  readonly repeated_24h: number;
  /** What its events count until their payloads are purged. */
  readonly stored_bytes: number;
  /** The limit that keeps it from taking events now; null if it takes them. */
  readonly limited: {
    /** Which limit. */
    readonly kind:
      | 'source_bytes'
      | 'project_bytes'
      | 'events_per_minute'
      | 'bytes_per_10_minutes'
      | (string & {});
    /** What it may store, in all or in the time of the limit. */
    readonly limit: number;
    /** What it has stored of that. */
    readonly used: number;
    /** Seconds until it takes events again. */
    readonly retry_after: number;
  } | null;
}

/** One page of a list. */
export interface SourceWithCountsPage {
  /** Oldest first. */
  readonly items: readonly SourceWithCounts[];
  /** Always null: the list has one page. */
  readonly next_cursor: string | null;
}

/** The answer of `GET /v1/state-history/{task_id}`. */
export interface StateHistoryAnswer {
  /** The task. */
  readonly task_id: string;
  /** Newest first. */
  readonly items: readonly StateVersion[];
}

/** The answer of `PUT /v1/state/{task_id}`. */
export interface StateSaveAnswer {
  /** The task. */
  readonly task_id: string;
  /** Where `GET /v1/kv/{key}` finds it: `state/<task_id>`. */
  readonly key: string;
  /** When it was saved. */
  readonly saved_at: string;
  /** Rises with each write; pass as `if_version`. */
  readonly version: number;
  /** JSON kept as text. */
  readonly warnings?: readonly string[] | undefined;
}

/** An earlier version of a state. */
export interface StateVersion {
  /** Which version. */
  readonly version: number;
  /** When it was saved. */
  readonly saved_at: string;
  /** Size of the state. */
  readonly size_bytes: number;
  /** What the agent said about it. */
  readonly note: string | null;
  /** The key that saved it. */
  readonly key_id: string | null;
  /** The agent that saved it, as it calls itself. */
  readonly agent: string | null;
}

/** The answer of story. */
export interface StoryAnswer {
  /** Where it began. */
  readonly event: {
    /** `evt_…`. */
    readonly id: string;
    /** Name of the source. */
    readonly source: string;
    /** `webhook` or `email` for received events. */
    readonly channel: string;
    /** What happened. */
    readonly type: string;
    /** When it arrived. */
    readonly received_at: string;
    /** Whether the signature was checked. */
    readonly verified: boolean;
    /** Where it is in the queue. */
    readonly status: 'pending' | 'claimed' | 'done' | 'failed' | 'dead' | 'waiting' | (string & {});
  };
  /** What people were asked about it. */
  readonly requests: readonly Readonly<Record<string, unknown>>[];
  /** Ledger entries about it, oldest first. */
  readonly entries: readonly LedgerEntry[];
  /** Proof that values belong to digests in the entries. */
  readonly openings: readonly {
    /** The entry. */
    readonly seq: number;
    /** What was hashed before the value. */
    readonly salt: string;
    /** What was hashed. */
    readonly value: unknown;
  }[];
  /** What the keys and people of the entries are called, by id. */
  readonly names: Readonly<Record<string, string>>;
}

/** The saved state of a task. */
export interface TaskState {
  /** The task. */
  readonly task_id: string;
  /** As it was saved. */
  readonly state: unknown;
  /** What the agent said about it. */
  readonly note: string | null;
  /** When it was saved. */
  readonly saved_at: string;
  /** Rises with each write; pass as `if_version`. */
  readonly version: number;
}

/** The answer of usage. */
export interface UsageAnswer {
  /** Stored bytes. */
  readonly disk: {
    /** All together. */
    readonly used_bytes: number;
    /** What the project may store. */
    readonly limit_bytes: number;
    /** Of keys and state. */
    readonly key_bytes: number;
    /** Of files. */
    readonly file_bytes: number;
    /** Reserved by open uploads. */
    readonly upload_bytes: number;
  };
  /** Keys of the key-value store. */
  readonly keys: {
    /** How many there are. */
    readonly used: number;
    /** How many there may be. */
    readonly limit: number;
  };
  /** Downloads. */
  readonly transfer: {
    /** `2026-01`. */
    readonly month: string;
    /** Downloaded this month. */
    readonly used_bytes: number;
    /** What may be downloaded in a month. */
    readonly limit_bytes: number;
    /** When the month ends. */
    readonly resets_at: string;
  };
  /** Mails sent. */
  readonly emails: {
    /** Sent today. */
    readonly today: number;
    /** What may be sent in a day. */
    readonly day_limit: number;
    /** Sent this month. */
    readonly this_month: number;
    /** What may be sent in a month. */
    readonly month_limit: number;
    /** Why sending is blocked, or null. */
    readonly blocked: string | null;
  };
  /** What sources store and send. */
  readonly events: {
    /** Payloads, headers and attachments of events, and 2 KB each, until their purge. */
    readonly stored_bytes: number;
    /** What the project may store; null means no limit. */
    readonly limit_bytes: number | null;
    /** The limits of each source; null means none. */
    readonly source_limits: {
      /** What a source may store. */
      readonly stored_bytes: number | null;
      /** How many events it may send in a minute. */
      readonly events_per_minute: number | null;
      /** How much it may send in ten minutes. */
      readonly bytes_per_10_minutes: number | null;
    };
    /** Each source with what it stores and sends. */
    readonly sources: readonly {
      /** The source's name. */
      readonly name: string;
      /** What its events count. */
      readonly stored_bytes: number;
      /** Events of the current minute. */
      readonly events_this_minute: number;
      /** Stored in the current ten minutes. */
      readonly bytes_these_10_minutes: number;
      /** The limit that the source has reached, or null. */
      readonly limited:
        | (
            | 'source_bytes'
            | 'project_bytes'
            | 'events_per_minute'
            | 'bytes_per_10_minutes'
            | (string & {})
          )
        | null;
    }[];
    /** Mails kept as dead events: each has the Message-ID of another mail. Up to 1,000. */
    readonly set_aside: number;
  };
  /** The log kept for members' replicas that were away; in no quota. */
  readonly replica_log: {
    /** What it takes on the disk of the server. */
    readonly stored_bytes: number;
    /** What it may take; its newest part, 16 MB or so, may exceed that. */
    readonly limit_bytes: number;
  };
}

/** The answer of whoami. */
export interface WhoamiAnswer {
  /** The project of the key. */
  readonly project: {
    /** `prj_…`. */
    readonly id: string;
    /** Its name in addresses. */
    readonly slug: string;
    /** What people call it. */
    readonly name: string;
  };
  /** The key of this call. */
  readonly key: {
    /** `key_…`. */
    readonly id: string;
    /** What people call it. */
    readonly name: string;
    /** What it may do. */
    readonly scopes: readonly (
      | 'admin'
      | 'ledger:read'
      | 'inbox:read'
      | 'inbox:write'
      | 'approvals'
      | 'disk'
      | 'disk:read'
      | 'send'
      | (string & {})
    )[];
    /** The only names on the disk that it may use start with these. Null: all. */
    readonly disk_prefixes: readonly string[] | null;
    /** When it ends; null means never. */
    readonly expires_at: string | null;
  };
  /** What this call may do. */
  readonly scopes: readonly (
    | 'admin'
    | 'ledger:read'
    | 'inbox:read'
    | 'inbox:write'
    | 'approvals'
    | 'disk'
    | 'disk:read'
    | 'send'
    | (string & {})
  )[];
  /** The agent of this call. */
  readonly agent: {
    /** As it calls itself; a claim, not proof. */
    readonly label: string | null;
    /** The agent's platform. */
    readonly platform: string;
    /** Where the name comes from. */
    readonly source: 'header' | 'hello' | 'mcp_client_info' | 'user_agent' | 'none' | (string & {});
  };
  /** Addresses of this server. */
  readonly urls: {
    /** Base of REST. */
    readonly api: string;
    /** The MCP endpoint. */
    readonly mcp: string;
    /** Base of webhook addresses. */
    readonly hooks: string;
  };
  /** This server. */
  readonly server: {
    /** Its version. */
    readonly version: string;
    /** How people can be reached. */
    readonly channels: readonly string[];
    /** `kept`: no mail server is set, so mail stays on this server. */
    readonly mail: 'sent' | 'kept' | (string & {});
  };
}

/** Show this call's project, key and agent. */
export type WhoamiInput = Readonly<Record<string, unknown>>;

/** Name the agent using this key. */
export interface SessionHelloInput {
  /** The agent's label, such as `billing-bot`. */
  readonly agent: string;
  /** One of `claude-code`, `codex`, `agentforce`, `polyant`, `custom`, `unknown`; anything else is stored as `custom`. */
  readonly platform: string;
}

/** List the project's keys. */
export interface KeyListInput {
  /** The next_cursor from the previous page. */
  readonly cursor?: string | undefined;
  /** How many to return. */
  readonly limit?: number | undefined;
}

/** Create an API key. */
export interface KeyCreateInput {
  /** What the key is for. */
  readonly name: string;
  /** What the key may do: admin, ledger:read, inbox:read, inbox:write, approvals, disk, disk:read, send. */
  readonly scopes: readonly (
    | 'admin'
    | 'ledger:read'
    | 'inbox:read'
    | 'inbox:write'
    | 'approvals'
    | 'disk'
    | 'disk:read'
    | 'send'
    | (string & {})
  )[];
  /** Limit the key to keys, task ids and file paths that start with one of these. */
  readonly disk_prefixes?: readonly string[] | undefined;
  /** When the key stops working and what it made ends, ISO 8601 (default: never; if an app creates it, when the app's access ends). */
  readonly expires_at?: string | undefined;
}

/** Show a key and what it made. */
export interface KeyGetInput {
  /** The key, `key_…`. */
  readonly key_id: string;
}

/** Revoke a key, and end what it made. */
export interface KeyRevokeInput {
  /** The key, `key_…`. */
  readonly key_id: string;
  /** Keep what it made, except links to files. */
  readonly keep?: boolean | undefined;
}

/** Give a key a new secret. */
export interface KeyRotateInput {
  /** The key, `key_…`. */
  readonly key_id: string;
  /** How long the old secret keeps working. */
  readonly grace_seconds?: number | undefined;
  /** Also end what the key made, as key_revoke does, and its waits. */
  readonly end_made?: boolean | undefined;
}

/** List active sources and their addresses. */
export type SourceListInput = Readonly<Record<string, unknown>>;

/** Add a source and get its address. */
export interface SourceAddInput {
  /** What the source receives. */
  readonly type: 'webhook' | 'email' | (string & {});
  /** Unique in the project. */
  readonly name: string;
  /** The sender, which decides how deliveries are signed; `standard_webhooks` and `hmac_sha256` fit any that sign so, and `none` accepts anyone with the URL. */
  readonly verification?:
    | (
        | 'stripe'
        | 'github'
        | 'hmac_sha256'
        | 'standard_webhooks'
        | 'none'
        | 'adyen'
        | 'asana'
        | 'bitbucket'
        | 'cloudevents'
        | 'docusign'
        | 'dropbox'
        | 'gitlab'
        | 'hubspot'
        | 'intercom'
        | 'linear'
        | 'mailgun'
        | 'meta'
        | 'microsoft_graph'
        | 'okta'
        | 'pagerduty'
        | 'paypal'
        | 'postmark'
        | 'sendgrid'
        | 'sentry'
        | 'shopify'
        | 'slack'
        | 'square'
        | 'trello'
        | 'twilio'
        | 'typeform'
        | 'zendesk'
        | 'zoom'
        | (string & {})
      )
    | undefined;
  /** The signing secret, exactly as the sender shows it. */
  readonly secret?: string | undefined;
  /** Only for `hmac_sha256`: the signature's header (default `x-signature`). */
  readonly signature_header?: string | undefined;
}

/** Remove a source; its URL stops at once. */
export interface SourceRemoveInput {
  /** The name of a source. */
  readonly name: string;
}

/** Show one source and its last delivery. */
export interface SourceGetInput {
  /** The name of a source. */
  readonly name: string;
}

/** Give a source a new secret; its URL stays. */
export interface SourceRotateInput {
  /** The name of a source. */
  readonly name: string;
  /** The signing secret, exactly as the sender shows it. */
  readonly secret: string;
  /** How long the old secret also works. */
  readonly previous_valid_seconds?: number | undefined;
}

/** Sign a body as the source's sender would. */
export interface SourceSignInput {
  /** The name of a source. */
  readonly name: string;
  /** The exact bytes of the body. */
  readonly body_base64: string;
  /** Of the body: Twilio signs the fields of a form. */
  readonly content_type?: string | undefined;
}

/** List inbox events, oldest first. */
export interface InboxListInput {
  /** The name of a source. */
  readonly source?: string | undefined;
  /** An event type, or a prefix: `invoice.*`. */
  readonly type?: string | undefined;
  /** Only events in this state. */
  readonly status?:
    | ('pending' | 'claimed' | 'done' | 'failed' | 'dead' | 'waiting' | 'all' | (string & {}))
    | undefined;
  /** Received at or after, ISO 8601. */
  readonly since?: string | undefined;
  /** Mails of this thread. */
  readonly thread?: string | undefined;
  /** Leave out answers to other keys' questions. */
  readonly mine?: boolean | undefined;
  /** Newest first. */
  readonly newest?: boolean | undefined;
  /** A one-line gist in place of payload, headers and attachments. */
  readonly brief?: boolean | undefined;
  /** The next_cursor from the previous page. */
  readonly cursor?: string | undefined;
  /** How many to return. */
  readonly limit?: number | undefined;
}

/** Wait for the first pending event. */
export interface InboxWaitInput {
  /** The name of a source. */
  readonly source?: string | undefined;
  /** An event type, or a prefix: `invoice.*`. */
  readonly type?: string | undefined;
  /** Received at or after, ISO 8601. */
  readonly since?: string | undefined;
  /** Leave out answers to other keys' questions. */
  readonly mine?: boolean | undefined;
  /** Only events that arrived after this event id. */
  readonly after?: string | undefined;
  /** Also the first event that arrived after this id (`none`: any), even if others have taken it since; as it came. */
  readonly arrived_after?: string | undefined;
  /** How long to wait. */
  readonly timeout_seconds?: number | undefined;
}

/** Read an event in any state. */
export interface InboxGetInput {
  /** The event, `evt_…`. */
  readonly event_id: string;
}

/** Get a link to a webhook's body, byte for byte as it came. */
export interface InboxLinkInput {
  /** The event, `evt_…`. */
  readonly event_id: string;
}

/** Claim a pending event and read it in full. */
export interface InboxClaimInput {
  /** The event, `evt_…`. */
  readonly event_id: string;
  /** How long the lease lasts. */
  readonly lease_seconds?: number | undefined;
}

/** Finish a claimed event. */
export interface InboxAckInput {
  /** The event, `evt_…`. */
  readonly event_id: string;
  /** The lease_id of your claim. */
  readonly lease_id?: string | undefined;
  /** Any JSON, up to 4 KB serialized. */
  readonly result?: unknown;
  /** The approval this act uses up. */
  readonly spends?: string | undefined;
  /** The values you acted on, exactly as approved. */
  readonly bind?: unknown;
}

/** Return a claimed event to the queue. */
export interface InboxNackInput {
  /** The event, `evt_…`. */
  readonly event_id: string;
  /** The lease_id of your claim. */
  readonly lease_id?: string | undefined;
  /** Why; cut to 1 KB when stored. Required without until. */
  readonly reason?: string | undefined;
  /** False: give up now. */
  readonly retry?: boolean | undefined;
  /** Park it until these end: `req_…`, `evt_…`, `msg_…`, `+2h` or a time; or `now`. */
  readonly until?: readonly string[] | undefined;
  /** Wake at the first that ends, not when all have. */
  readonly any?: boolean | undefined;
  /** JSON for the next claim, up to 16 KB. */
  readonly state?: unknown;
}

/** Extend the lease on a claimed event. */
export interface InboxExtendInput {
  /** The event, `evt_…`. */
  readonly event_id: string;
  /** The lease_id of your claim. */
  readonly lease_id?: string | undefined;
  /** How long the lease lasts. */
  readonly lease_seconds?: number | undefined;
}

/** Put a dead or waiting event back in the queue. */
export interface InboxRequeueInput {
  /** The event, `evt_…`. */
  readonly event_id: string;
}

/** Put dead or done events back in the queue. */
export interface InboxReplayInput {
  /** This event alone. */
  readonly event_id?: string | undefined;
  /** All events in this state. */
  readonly status?: ('dead' | 'done' | (string & {})) | undefined;
  /** The name of a source. */
  readonly source?: string | undefined;
  /** An event type, or a prefix: `invoice.*`. */
  readonly type?: string | undefined;
  /** Received at or after, ISO 8601. */
  readonly since?: string | undefined;
  /** Received before, ISO 8601. */
  readonly before?: string | undefined;
  /** Change nothing; return what would be replayed. */
  readonly dry_run?: boolean | undefined;
  /** The next_cursor from the previous page. */
  readonly cursor?: string | undefined;
  /** How many to return. */
  readonly limit?: number | undefined;
}

/** Wait for pending events and claim them. */
export interface InboxNextInput {
  /** The name of a source. */
  readonly source?: string | undefined;
  /** An event type, or a prefix: `invoice.*`. */
  readonly type?: string | undefined;
  /** Received at or after, ISO 8601. */
  readonly since?: string | undefined;
  /** Leave out answers to other keys' questions. */
  readonly mine?: boolean | undefined;
  /** How many events to claim at most. 0 ends what waits under the same Idempotency-Key. */
  readonly max?: number | undefined;
  /** How long the lease lasts. */
  readonly lease_seconds?: number | undefined;
  /** How long to wait. */
  readonly timeout_seconds?: number | undefined;
}

/** List routes that push events to URLs. */
export type RouteListInput = Readonly<Record<string, unknown>>;

/** Push matching events to a URL. */
export interface RouteAddInput {
  /** The https URL to send events to, on a public address. */
  readonly callback_url: string;
  /** Only events of this source; `service` means the service's own. */
  readonly match_source?: string | undefined;
  /** Only events of this type, or with a prefix: `invoice.*`. */
  readonly match_type?: string | undefined;
}

/** Remove a route and stop sending to its URL. */
export interface RouteRemoveInput {
  /** The route, `rte_…`. */
  readonly route_id: string;
}

/** Disable a route until you enable it again. */
export interface RouteDisableInput {
  /** The route, `rte_…`. */
  readonly route_id: string;
}

/** Enable a disabled route. */
export interface RouteEnableInput {
  /** The route, `rte_…`. */
  readonly route_id: string;
}

/** Show a route's deliveries and attempts. */
export interface RouteAttemptsInput {
  /** The route, `rte_…`. */
  readonly route_id: string;
  /** Only deliveries in this state. */
  readonly status?: ('pending' | 'delivered' | 'dead' | 'cancelled' | (string & {})) | undefined;
  /** The next_cursor from the previous page. */
  readonly cursor?: string | undefined;
  /** How many to return. */
  readonly limit?: number | undefined;
}

/** Retry a route's deliveries now. */
export interface RouteRetryInput {
  /** The route, `rte_…`. */
  readonly route_id: string;
  /** Only this delivery, `dlv_…`. */
  readonly delivery_id?: string | undefined;
}

/** Send a signed test event to a route. */
export interface RouteTestInput {
  /** The route, `rte_…`. */
  readonly route_id: string;
}

/** Ask people to approve an action. */
export interface AskApprovalInput {
  /** A name such as `payment.refund`; policies match on it. */
  readonly action: string;
  /** One line, shown first. */
  readonly summary: string;
  /** What people need to know; required if risk is high. */
  readonly details?: string | undefined;
  /** Policies match on it. */
  readonly risk?: ('low' | 'medium' | 'high' | (string & {})) | undefined;
  /** Policies match on it. Bind it as `/amount`. */
  readonly amount?: number | undefined;
  /** Choices besides approve and deny. */
  readonly options?: readonly string[] | undefined;
  /** The exact values to act on, up to 4 KB: people see them. */
  readonly bind?: unknown;
  /** How long to wait. */
  readonly wait_seconds?: number | undefined;
  /** From 1m to 7d (default 24h). */
  readonly expires_in?: string | undefined;
  /** Channels to ask (default: all). */
  readonly approvers?: readonly string[] | undefined;
  /** Ask again after this, before it expires. */
  readonly remind?: string | undefined;
  /** Channels to ask later. */
  readonly then?: readonly string[] | undefined;
  /** Returned unchanged with the answer. */
  readonly state_ref?: string | undefined;
  /** An https address for the signed request.resolved event. */
  readonly callback_url?: string | undefined;
  /** How many must approve. */
  readonly approvals?: number | undefined;
  /** The event this is about; asking again finds the first question. */
  readonly event_id?: string | undefined;
  /** The lease_id of your claim. */
  readonly lease_id?: string | undefined;
  /** Give the event back until it is decided. */
  readonly park?: boolean | undefined;
  /** JSON for the next claim, up to 16 KB. */
  readonly state?: unknown;
}

/** Ask people a question. */
export interface AskHumanInput {
  /** The question; several lines are fine. */
  readonly question: string;
  /** Answers to choose from, up to 5. */
  readonly options?: readonly string[] | undefined;
  /** How long to wait. */
  readonly wait_seconds?: number | undefined;
  /** From 1m to 7d (default 24h). */
  readonly expires_in?: string | undefined;
  /** Channels to ask (default: all). */
  readonly approvers?: readonly string[] | undefined;
  /** Ask again after this, before it expires. */
  readonly remind?: string | undefined;
  /** Channels to ask later. */
  readonly then?: readonly string[] | undefined;
  /** Returned unchanged with the answer. */
  readonly state_ref?: string | undefined;
  /** An https address for the signed request.resolved event. */
  readonly callback_url?: string | undefined;
  /** The event this is about; asking again finds the first question. */
  readonly event_id?: string | undefined;
  /** The lease_id of your claim. */
  readonly lease_id?: string | undefined;
  /** Give the event back until it is decided. */
  readonly park?: boolean | undefined;
  /** JSON for the next claim, up to 16 KB. */
  readonly state?: unknown;
}

/** Check a request's status. */
export interface RequestStatusInput {
  /** The request, `req_…`. */
  readonly request_id: string;
}

/** List requests to people, newest first. */
export interface RequestListInput {
  /** Only requests with this status. */
  readonly status?:
    | (
        | 'pending'
        | 'approved'
        | 'denied'
        | 'modified'
        | 'needs_context'
        | 'expired'
        | 'answered'
        | 'all'
        | (string & {})
      )
    | undefined;
  /** The next_cursor from the previous page. */
  readonly cursor?: string | undefined;
  /** How many to return. */
  readonly limit?: number | undefined;
}

/** Confirm that the answer arrived, which closes its event. */
export interface RequestReceivedInput {
  /** The request, `req_…`. */
  readonly request_id: string;
}

/** Take back a request nobody has decided yet. */
export interface RequestWithdrawInput {
  /** The request, `req_…`. */
  readonly request_id: string;
  /** Why; the person sees it. */
  readonly reason?: string | undefined;
}

/** Use an approval, once, right before the act. */
export interface RequestUseInput {
  /** The request, `req_…`. */
  readonly request_id: string;
  /** The values that you act on: those the request bound. */
  readonly bind?: unknown;
}

/** Create or rotate the secret that signs request callbacks. */
export type RequestCallbackSecretInput = Readonly<Record<string, unknown>>;

/** List the people agents can ask. */
export type ChannelListInput = Readonly<Record<string, unknown>>;

/** Add a person agents can ask, by email or Telegram. */
export interface ChannelAddInput {
  /** How to reach the person. */
  readonly kind: 'email' | 'telegram' | (string & {});
  /** Email only: `local@domain`. */
  readonly address?: string | undefined;
  /** A short name for people and agents (default: the kind). */
  readonly label?: string | undefined;
}

/** Remove a person agents can ask. */
export interface ChannelRemoveInput {
  /** The channel, `chn_…`. */
  readonly channel_id: string;
}

/** List the people who share the project. */
export type MemberListInput = Readonly<Record<string, unknown>>;

/** Invite a person to share the project. */
export interface MemberInviteInput {
  /** Their address, `local@domain`. */
  readonly email: string;
  /** What they may do. */
  readonly role: 'owner' | 'admin' | 'member' | 'approver' | 'viewer' | (string & {});
}

/** Give a member another role. */
export interface MemberRoleInput {
  /** The member, `mbr_…`. */
  readonly member_id: string;
  /** What they may do from now on. */
  readonly role: 'owner' | 'admin' | 'member' | 'approver' | 'viewer' | (string & {});
}

/** Remove a member, or withdraw an invitation. */
export interface MemberRemoveInput {
  /** The member, `mbr_…`. */
  readonly member_id: string;
}

/** Rename the project. */
export interface ProjectRenameInput {
  /** What people read. */
  readonly name: string;
}

/** Delete the project with everything in it, for good. */
export interface ProjectDeleteInput {
  /** The project's name, so that nobody deletes another one by mistake. */
  readonly name: string;
}

/** Read the current policy. */
export type PolicyGetInput = Readonly<Record<string, unknown>>;

/** Propose a new policy for people to approve. */
export interface PolicySetInput {
  /** The whole document, `{"rules": […]}`. */
  readonly policy: {
    /** The first rule whose conditions all match decides; a rule without conditions matches everything. */
    readonly rules: readonly {
      /** Made up if omitted. */
      readonly id?: string | undefined;
      /** `require_approval`: a person decides. `auto_approve_notify`: approved, and people are told. */
      readonly effect:
        | 'allow'
        | 'deny'
        | 'require_approval'
        | 'auto_approve'
        | 'auto_approve_notify'
        | (string & {});
      /** Exact, or a prefix and `*`. */
      readonly action?: (string | readonly string[]) | undefined;
      /** For links and mails, which have no action. */
      readonly tool?: (('file_url' | 'email_send' | (string & {})) | readonly string[]) | undefined;
      /** Without its sign. */
      readonly amount_gt?: number | undefined;
      /** Without its sign. */
      readonly amount_lte?: number | undefined;
      /** Default `/amount`. */
      readonly amount_at?: string | undefined;
      /** As stated by the agent. */
      readonly risk?: (('low' | 'medium' | 'high' | (string & {})) | readonly string[]) | undefined;
      /** `{"/currency":"EUR","/fee":{"lte":5}}`. */
      readonly bind?: Readonly<Record<string, unknown>> | undefined;
      /** `example.com`, `*.example.com`. */
      readonly recipient_domains?: readonly string[] | undefined;
      /** Channels to ask. */
      readonly approvers?: readonly string[] | undefined;
      /** How many must approve. */
      readonly approvals?: number | undefined;
      /** For people. */
      readonly description?: string | undefined;
    }[];
  };
  /** Shown to people above the rules. */
  readonly note?: string | undefined;
  /** How long to wait. */
  readonly wait_seconds?: number | undefined;
}

/** See what the policy would decide and why. */
export interface PolicyTestInput {
  /** The sample call. */
  readonly tool?: ('ask_approval' | 'file_url' | 'email_send' | (string & {})) | undefined;
  /** Its action, such as `payment.refund`. */
  readonly action?: string | undefined;
  /** Its amount. */
  readonly amount?: number | undefined;
  /** The values it binds. */
  readonly bind?: unknown;
  /** Its risk. */
  readonly risk?: ('low' | 'medium' | 'high' | (string & {})) | undefined;
  /** The recipients' domains. */
  readonly recipient_domains?: readonly string[] | undefined;
  /** The whole document, `{"rules": […]}`. */
  readonly policy?:
    | {
        /** The first rule whose conditions all match decides; a rule without conditions matches everything. */
        readonly rules: readonly {
          /** Made up if omitted. */
          readonly id?: string | undefined;
          /** `require_approval`: a person decides. `auto_approve_notify`: approved, and people are told. */
          readonly effect:
            | 'allow'
            | 'deny'
            | 'require_approval'
            | 'auto_approve'
            | 'auto_approve_notify'
            | (string & {});
          /** Exact, or a prefix and `*`. */
          readonly action?: (string | readonly string[]) | undefined;
          /** For links and mails, which have no action. */
          readonly tool?:
            | (('file_url' | 'email_send' | (string & {})) | readonly string[])
            | undefined;
          /** Without its sign. */
          readonly amount_gt?: number | undefined;
          /** Without its sign. */
          readonly amount_lte?: number | undefined;
          /** Default `/amount`. */
          readonly amount_at?: string | undefined;
          /** As stated by the agent. */
          readonly risk?:
            | (('low' | 'medium' | 'high' | (string & {})) | readonly string[])
            | undefined;
          /** `{"/currency":"EUR","/fee":{"lte":5}}`. */
          readonly bind?: Readonly<Record<string, unknown>> | undefined;
          /** `example.com`, `*.example.com`. */
          readonly recipient_domains?: readonly string[] | undefined;
          /** Channels to ask. */
          readonly approvers?: readonly string[] | undefined;
          /** How many must approve. */
          readonly approvals?: number | undefined;
          /** For people. */
          readonly description?: string | undefined;
        }[];
      }
    | undefined;
}

/** Preview what a policy would change. */
export interface PolicyDiffInput {
  /** The whole document, `{"rules": […]}`. */
  readonly policy: {
    /** The first rule whose conditions all match decides; a rule without conditions matches everything. */
    readonly rules: readonly {
      /** Made up if omitted. */
      readonly id?: string | undefined;
      /** `require_approval`: a person decides. `auto_approve_notify`: approved, and people are told. */
      readonly effect:
        | 'allow'
        | 'deny'
        | 'require_approval'
        | 'auto_approve'
        | 'auto_approve_notify'
        | (string & {});
      /** Exact, or a prefix and `*`. */
      readonly action?: (string | readonly string[]) | undefined;
      /** For links and mails, which have no action. */
      readonly tool?: (('file_url' | 'email_send' | (string & {})) | readonly string[]) | undefined;
      /** Without its sign. */
      readonly amount_gt?: number | undefined;
      /** Without its sign. */
      readonly amount_lte?: number | undefined;
      /** Default `/amount`. */
      readonly amount_at?: string | undefined;
      /** As stated by the agent. */
      readonly risk?: (('low' | 'medium' | 'high' | (string & {})) | readonly string[]) | undefined;
      /** `{"/currency":"EUR","/fee":{"lte":5}}`. */
      readonly bind?: Readonly<Record<string, unknown>> | undefined;
      /** `example.com`, `*.example.com`. */
      readonly recipient_domains?: readonly string[] | undefined;
      /** Channels to ask. */
      readonly approvers?: readonly string[] | undefined;
      /** How many must approve. */
      readonly approvals?: number | undefined;
      /** For people. */
      readonly description?: string | undefined;
    }[];
  };
}

/** Suggest rules for what people always approve. */
export type PolicySuggestInput = Readonly<Record<string, unknown>>;

/** List keys in byte order. */
export interface KvListInput {
  /** Only keys that start with this. */
  readonly prefix?: string | undefined;
  /** Return values too; a page then ends before they pass 1 MB. */
  readonly values?: boolean | undefined;
  /** The next_cursor from the previous page. */
  readonly cursor?: string | undefined;
  /** How many to return. */
  readonly limit?: number | undefined;
}

/** Read a key's value. */
export interface KvGetInput {
  /** Up to 512 bytes, no control characters. */
  readonly key: string;
}

/** Read a key's value. */
export type KvGetAnswer = KvEntry | null;

/** Store a JSON value under a key. */
export interface KvSetInput {
  /** Up to 512 bytes, no control characters. */
  readonly key: string;
  /** Any JSON, up to 256 KB. */
  readonly value?: unknown;
  /** How long the key lasts. */
  readonly ttl_seconds?: number | undefined;
  /** Write only if this is the current version; 0: only if nothing exists. */
  readonly if_version?: number | undefined;
  /** Write only if it exists, in any version. */
  readonly if_exists?: boolean | undefined;
}

/** Add to a counter. */
export interface KvIncrInput {
  /** Up to 512 bytes, no control characters. */
  readonly key: string;
  /** What to add; may be negative. */
  readonly by?: number | undefined;
  /** How long the key lasts from now. */
  readonly ttl_seconds?: number | undefined;
}

/** Change when a key expires. */
export interface KvTouchInput {
  /** Up to 512 bytes, no control characters. */
  readonly key: string;
  /** How long the key lasts from now. */
  readonly ttl_seconds?: number | undefined;
}

/** Read the values of several keys. */
export interface KvMgetInput {
  /** The keys, in any order. */
  readonly keys: readonly string[];
}

/** Delete a key. */
export interface KvDeleteInput {
  /** Up to 512 bytes, no control characters. */
  readonly key: string;
  /** Delete only if this is the current version. */
  readonly if_version?: number | undefined;
  /** Refuse the call if it doesn't exist. */
  readonly if_exists?: boolean | undefined;
}

/** Load a task's saved state. */
export interface StateLoadInput {
  /** The task; up to 512 bytes including the prefix `state/`. */
  readonly task_id: string;
  /** An earlier version (default: the newest); null if it isn't kept. */
  readonly version?: number | undefined;
}

/** Load a task's saved state. */
export type StateLoadAnswer = TaskState | null;

/** Save a task's state. */
export interface StateSaveInput {
  /** The task; up to 512 bytes including the prefix `state/`. */
  readonly task_id: string;
  /** Any JSON, up to 256 KB. */
  readonly state: unknown;
  /** A note for the next reader. */
  readonly note?: string | undefined;
  /** Write only if this is the current version; 0: only if nothing exists. */
  readonly if_version?: number | undefined;
  /** Write only if it exists, in any version. */
  readonly if_exists?: boolean | undefined;
}

/** List the versions of a task's state. */
export interface StateHistoryInput {
  /** The task; up to 512 bytes including the prefix `state/`. */
  readonly task_id: string;
}

/** List files in byte order of their paths. */
export interface FileListInput {
  /** Only paths that start with this. */
  readonly prefix?: string | undefined;
  /** The next_cursor from the previous page. */
  readonly cursor?: string | undefined;
  /** How many to return. */
  readonly limit?: number | undefined;
}

/** Read a file, or get a link to a large one. */
export interface FileGetInput {
  /** Such as `a/b.pdf` or `disk://a/b.pdf`. */
  readonly path: string;
  /** `text`: answer UTF-8 text in content. */
  readonly as?: ('base64' | 'text' | (string & {})) | undefined;
}

/** Save a file, or open or complete an upload. */
export interface FilePutInput {
  /** Such as `a/b.pdf` or `disk://a/b.pdf`. */
  readonly path: string;
  /** The file as text, up to 1 MB. */
  readonly content?: string | undefined;
  /** The bytes in standard base64 with `=` padding, up to 1 MB decoded. */
  readonly content_base64?: string | undefined;
  /** Media type (default: `text/plain` for `content`, else `application/octet-stream`). */
  readonly content_type?: string | undefined;
  /** Get a URL to PUT up to 100 MB to. */
  readonly upload?:
    | {
        /** Exact size in bytes. */
        readonly size: number;
        /** Its media type. */
        readonly content_type?: string | undefined;
      }
    | undefined;
  /** The upload_id, once you've sent the bytes. */
  readonly complete?: string | undefined;
  /** Write only if this is the current version; 0: only if nothing exists. */
  readonly if_version?: number | undefined;
  /** Write only if it exists, in any version. */
  readonly if_exists?: boolean | undefined;
}

/** Delete a file and end its links. */
export interface FileDeleteInput {
  /** Such as `a/b.pdf` or `disk://a/b.pdf`. */
  readonly path: string;
  /** Delete only if this is the current version. */
  readonly if_version?: number | undefined;
  /** Refuse the call if it doesn't exist. */
  readonly if_exists?: boolean | undefined;
}

/** Create a public download link. */
export interface FileUrlInput {
  /** Such as `a/b.pdf` or `disk://a/b.pdf`. */
  readonly path: string;
  /** How long the link works, in seconds. */
  readonly expires_in?: number | undefined;
  /** The request_id from the earlier answer. */
  readonly approval?: string | undefined;
  /** How long to wait for a person. */
  readonly wait_seconds?: number | undefined;
}

/** Send an email from the project's address. */
export interface EmailSendInput {
  /** Addresses; each gets a separate message. */
  readonly to?: readonly string[] | undefined;
  /** All see `to` and `cc`. */
  readonly cc?: readonly string[] | undefined;
  /** Nobody else sees these. */
  readonly bcc?: readonly string[] | undefined;
  /** One line. */
  readonly subject?: string | undefined;
  /** Plain text. */
  readonly text: string;
  /** Sent as given. */
  readonly html?: string | undefined;
  /** Paths or `evt_…/name`; 10 MB in total. */
  readonly attachments?: readonly string[] | undefined;
  /** A mail to answer; gives `to`, `subject`. */
  readonly reply_to_event?: string | undefined;
  /** Also to its To and Cc. */
  readonly reply_all?: boolean | undefined;
  /** Quote it below the text. */
  readonly quote?: boolean | undefined;
  /** Replies arrive in the inbox. */
  readonly reply_to_inbox?: boolean | undefined;
  /** How long to wait. */
  readonly wait_seconds?: number | undefined;
}

/** Check the messages of one email_send call. */
export interface EmailStatusInput {
  /** The batch_id from email_send. */
  readonly batch_id: string;
}

/** Show the project's usage and limits. */
export type UsageInput = Readonly<Record<string, unknown>>;

/** Show an event's story: who sent it, worked on it, decided and acted. */
export interface StoryInput {
  /** The event, `evt_…`. */
  readonly event_id: string;
}

/** Read the ledger, newest first. */
export interface LedgerQueryInput {
  /** The exact operation, such as `inbox_ack` or `event.received`. */
  readonly op?: string | undefined;
  /** Who did it: an id of a key, a person's channel, a member or a source; `policy:<rule>`, `operator` or `service`. */
  readonly actor?: string | undefined;
  /** The exact agent label. */
  readonly agent?: string | undefined;
  /** The exact platform. */
  readonly platform?: string | undefined;
  /** The id of the affected object. */
  readonly subject?: string | undefined;
  /** At or after this time, ISO 8601. */
  readonly since?: string | undefined;
  /** Before this time, ISO 8601. */
  readonly until?: string | undefined;
  /** How many to return. */
  readonly limit?: number | undefined;
  /** The next_cursor from the previous page. */
  readonly cursor?: number | undefined;
}

/** Recompute the hash chain of the ledger. */
export interface LedgerVerifyInput {
  /** The first entry. */
  readonly from_seq?: number | undefined;
  /** The last entry (default: the newest). */
  readonly to_seq?: number | undefined;
}
