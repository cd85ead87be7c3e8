// Written by `npm run surface` from the operations. Do not edit.

export interface ApiError {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly hint: string | null;
    /** Depends on the code: `fields` (path, message) of VALIDATION_FAILED, `scope`, `retry_after`, `limit` with `used`, and `of` for whose limit it is, … */
    readonly details?: Readonly<Record<string, unknown>> | undefined;
  };
}

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

export interface AskAnswer {
  readonly request_id: string;
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
  readonly comment: string | null;
  readonly hint: string | null;
  readonly decided_by: string | null;
  readonly state_ref: string | null;
  readonly expires_at: string;
  readonly poll_after_seconds: number | null;
  /** The event waits for the answer. */
  readonly parked?: boolean | undefined;
}

export interface Attachment {
  readonly name: string;
  readonly content_type: string;
  readonly size_bytes: number;
  readonly content_id: string | null;
  readonly inline: boolean;
  readonly sha256: string;
  readonly url?: string | undefined;
  readonly url_expires_at?: string | undefined;
}

export interface AuthKeyCreateAnswer {
  readonly project: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly created_at: string;
  };
  readonly key: {
    readonly id: string;
    readonly name: string;
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
    readonly created_at: string;
  };
  /** The secret, shown only once. */
  readonly api_key: string;
  readonly urls: {
    readonly api: string;
    readonly mcp: string;
    readonly hooks: string;
  };
}

export interface AuthPollAnswer {
  readonly status: 'confirmed';
  readonly email_masked: string;
  /** Use the sign-in before this time. */
  readonly expires_at: string;
  /** Of this account. */
  readonly projects: readonly {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
  }[];
}

export interface AuthStartAnswer {
  /** A secret: keep it to yourself. */
  readonly login_id: string;
  /** Show it: the person types it on the page behind the link. */
  readonly user_code: string;
  readonly email_masked: string;
  /** Seconds. */
  readonly expires_in: number;
  readonly expires_at: string;
  /** Seconds to let pass between polls. */
  readonly interval: number;
}

export interface BlockedAttachment {
  readonly name: string;
  readonly content_type: string;
  readonly size_bytes: number;
  readonly reason: 'executable' | 'encrypted_archive' | 'too_large' | 'too_many' | (string & {});
}

export interface Channel {
  readonly id: string;
  readonly kind: 'email' | 'telegram' | (string & {});
  readonly label: string;
  /** Masked; null for Telegram. */
  readonly address: string | null;
  readonly status: 'added' | 'verified' | 'active' | 'removed' | (string & {});
  readonly owner: boolean;
  readonly created_at: string;
  readonly verified_at: string | null;
  readonly activated_at: string | null;
  readonly last_used_at: string | null;
}

export interface ChannelAddAnswer {
  readonly channel: Channel;
  /** Email: the masked address. */
  readonly verification_sent_to?: string | undefined;
  /** Telegram: the person opens it and taps Start. */
  readonly start_url?: string | undefined;
  /** When the link expires. */
  readonly expires_at: string;
}

export interface ChannelPage {
  readonly items: readonly Channel[];
  readonly next_cursor: null;
}

export interface ChannelRemoveAnswer {
  readonly id: string;
  readonly status: 'removed';
  readonly removed_at: string;
}

export interface ClaimedEvent {
  readonly id: string;
  readonly project: string;
  readonly source: string;
  readonly channel: string;
  readonly type: string;
  readonly received_at: string;
  readonly verified: boolean;
  readonly trust: 'external_untrusted' | 'service' | (string & {});
  readonly suspected_replay: boolean;
  readonly reply_to: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly payload: unknown;
  readonly payload_url: string | null;
  readonly payload_truncated: boolean;
  readonly payload_purged: boolean;
  readonly thread_id?: (string | null) | undefined;
  readonly html_url?: (string | null) | undefined;
  readonly attachments?: readonly Attachment[] | undefined;
  readonly attachments_blocked?: readonly BlockedAttachment[] | undefined;
  readonly status: 'pending' | 'claimed' | 'done' | 'failed' | 'dead' | 'waiting' | (string & {});
  readonly attempts: number;
  readonly retry_at: string | null;
  readonly waiting_for?:
    | readonly {
        readonly id: string;
        readonly status: string;
        readonly expires_at: string;
      }[]
    | undefined;
  readonly parked_at?: string | undefined;
  readonly wakes_at?: string | undefined;
  readonly lease_id: string;
  readonly lease_expires_at: string;
  readonly resumed?: Resumed | undefined;
}

export interface EmailMessage {
  readonly message_id: string;
  readonly to: string;
  readonly status:
    | 'queued'
    | 'pending'
    | 'sent'
    | 'failed'
    | 'bounced'
    | 'cancelled'
    | (string & {});
  readonly error?:
    | {
        readonly code: string;
        readonly message: string;
      }
    | undefined;
}

export interface EmailSendAnswer {
  readonly status: 'queued' | 'pending' | 'cancelled' | (string & {});
  readonly batch_id: string;
  readonly request_id: string | null;
  readonly thread_id: string | null;
  readonly messages: readonly EmailMessage[];
}

export interface EmailStatusAnswer {
  readonly status: 'queued' | 'pending' | 'cancelled' | 'sent' | 'failed' | (string & {});
  readonly batch_id: string;
  readonly request_id: string | null;
  readonly thread_id: string | null;
  readonly messages: readonly EmailMessage[];
  readonly subject: string;
  readonly from: string;
  readonly created_at: string;
}

export interface Event {
  readonly id: string;
  readonly project: string;
  readonly source: string;
  readonly channel: string;
  readonly type: string;
  readonly received_at: string;
  readonly verified: boolean;
  readonly trust: 'external_untrusted' | 'service' | (string & {});
  readonly suspected_replay: boolean;
  readonly reply_to: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly payload: unknown;
  readonly payload_url: string | null;
  readonly payload_truncated: boolean;
  readonly payload_purged: boolean;
  readonly thread_id?: (string | null) | undefined;
  readonly html_url?: (string | null) | undefined;
  readonly attachments?: readonly Attachment[] | undefined;
  readonly attachments_blocked?: readonly BlockedAttachment[] | undefined;
  readonly status: 'pending' | 'claimed' | 'done' | 'failed' | 'dead' | 'waiting' | (string & {});
  readonly attempts: number;
  readonly retry_at: string | null;
  readonly waiting_for?:
    | readonly {
        readonly id: string;
        readonly status: string;
        readonly expires_at: string;
      }[]
    | undefined;
  readonly parked_at?: string | undefined;
  readonly wakes_at?: string | undefined;
}

export interface EventPage {
  readonly items: readonly Event[];
  readonly next_cursor: string | null;
  readonly warnings?: readonly string[] | undefined;
}

export interface EventWithResult {
  readonly id: string;
  readonly project: string;
  readonly source: string;
  readonly channel: string;
  readonly type: string;
  readonly received_at: string;
  readonly verified: boolean;
  readonly trust: 'external_untrusted' | 'service' | (string & {});
  readonly suspected_replay: boolean;
  readonly reply_to: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly payload: unknown;
  readonly payload_url: string | null;
  readonly payload_truncated: boolean;
  readonly payload_purged: boolean;
  readonly thread_id?: (string | null) | undefined;
  readonly html_url?: (string | null) | undefined;
  readonly attachments?: readonly Attachment[] | undefined;
  readonly attachments_blocked?: readonly BlockedAttachment[] | undefined;
  readonly status: 'pending' | 'claimed' | 'done' | 'failed' | 'dead' | 'waiting' | (string & {});
  readonly attempts: number;
  readonly retry_at: string | null;
  readonly waiting_for?:
    | readonly {
        readonly id: string;
        readonly status: string;
        readonly expires_at: string;
      }[]
    | undefined;
  readonly parked_at?: string | undefined;
  readonly wakes_at?: string | undefined;
  /** The result from `POST /v1/inbox/ack`, or null. */
  readonly result: unknown;
  /** The reason of the latest `POST /v1/inbox/nack`. */
  readonly reason: string | null;
}

export interface File {
  readonly path: string;
  readonly ref: string;
  readonly size_bytes: number;
  readonly content_type: string;
  readonly updated_at: string;
  readonly sha256: string;
  readonly version: number;
}

export interface FileDeleteAnswer {
  readonly deleted: boolean;
}

export interface FileGetAnswer {
  readonly path: string;
  readonly ref: string;
  readonly size_bytes: number;
  readonly content_type: string;
  readonly updated_at: string;
  readonly sha256: string;
  readonly version: number;
  readonly content_base64?: string | undefined;
  readonly download_url?: string | undefined;
  readonly expires_at?: string | undefined;
}

export interface FilePage {
  readonly items: readonly File[];
  readonly next_cursor: string | null;
}

export interface FilePutAnswer {
  readonly path?: string | undefined;
  readonly ref?: string | undefined;
  readonly size_bytes?: number | undefined;
  readonly content_type?: string | undefined;
  readonly updated_at?: string | undefined;
  readonly sha256?: string | undefined;
  readonly version?: number | undefined;
  readonly status?: 'uploading' | undefined;
  readonly upload_id?: string | undefined;
  readonly upload_url?: string | undefined;
  readonly upload_headers?: Readonly<Record<string, string>> | undefined;
  readonly expires_at?: string | undefined;
}

export interface FileUrlAnswer {
  readonly url?: string | undefined;
  readonly expires_at?: string | undefined;
  readonly link_id?: string | undefined;
  readonly status?:
    | ('pending' | 'denied' | 'needs_context' | 'expired' | (string & {}))
    | undefined;
  readonly request_id?: string | undefined;
  readonly comment?: (string | null) | undefined;
}

export interface InboxAckAnswer {
  readonly event_id: string;
  readonly status: 'done';
  readonly acked_at: string;
}

export interface InboxExtendAnswer {
  readonly event_id: string;
  readonly lease_id: string;
  readonly lease_expires_at: string;
}

export interface InboxNackAnswer {
  readonly event_id: string;
  readonly status: 'failed' | 'dead' | 'waiting' | 'pending' | (string & {});
  readonly attempts: number;
  readonly parks?: number | undefined;
  readonly waiting_for?:
    | readonly {
        readonly id: string;
        readonly status: string;
        readonly expires_at: string;
      }[]
    | undefined;
  readonly wakes_at?: string | undefined;
  readonly retry_at: string | null;
}

export interface InboxNextAnswer {
  readonly items: readonly ClaimedEvent[];
  readonly warnings?: readonly string[] | undefined;
}

export interface InboxReplayAnswer {
  readonly event_ids: readonly string[];
  readonly skipped: readonly {
    readonly event_id: string;
    readonly reason: string;
  }[];
  readonly next_cursor: string | null;
}

export interface InboxRequeueAnswer {
  readonly event_id: string;
  readonly status: 'pending';
}

export interface InboxWaitAnswer {
  readonly event: Event | null;
  readonly warnings?: readonly string[] | undefined;
}

export interface Key {
  readonly id: string;
  readonly name: string;
  readonly last4: string;
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
  readonly created_at: string;
  readonly created_by: string | null;
  readonly last_used_at: string | null;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  /** The host of the app that a person let in by OAuth; null for other keys. */
  readonly client: string | null;
}

export interface KeyPage {
  readonly items: readonly Key[];
  readonly next_cursor: string | null;
}

export interface KeyRevokeAnswer {
  readonly id: string;
  readonly revoked_at: string;
}

export interface KvDeleteAnswer {
  readonly deleted: boolean;
}

export interface KvEntry {
  readonly key: string;
  readonly value: unknown;
  readonly expires_at: string | null;
  readonly updated_at: string;
  readonly version: number;
}

export interface KvIncrAnswer {
  readonly key: string;
  readonly value: number;
  readonly expires_at: string | null;
  readonly version: number;
}

export interface KvKey {
  readonly key: string;
  readonly size_bytes: number;
  readonly expires_at: string | null;
  readonly updated_at: string;
  readonly version: number;
  readonly value?: unknown;
}

export interface KvKeyPage {
  readonly items: readonly KvKey[];
  readonly next_cursor: string | null;
}

export interface KvMgetAnswer {
  readonly items: readonly (KvEntry | null)[];
}

export interface KvSetAnswer {
  readonly key: string;
  readonly size_bytes: number;
  readonly expires_at: string | null;
  readonly version: number;
}

export interface KvTouchAnswer {
  readonly key: string;
  readonly expires_at: string | null;
  readonly version: number;
}

export interface LedgerEntry {
  readonly seq: number;
  readonly at: string;
  readonly op: string;
  readonly agent: string | null;
  readonly platform: string | null;
  readonly key_id: string | null;
  readonly subject: string | null;
  readonly request_id: string | null;
  readonly outcome: 'ok' | 'error' | (string & {});
  readonly code: string | null;
  readonly input_digest: string | null;
  readonly result_digest: string | null;
  readonly prev_hash: string;
  readonly hash: string;
}

export interface LedgerEntryPage {
  readonly items: readonly LedgerEntry[];
  readonly next_cursor: number | null;
}

export interface LedgerVerifyAnswer {
  readonly ok: boolean;
  readonly from_seq: number;
  readonly to_seq: number;
  readonly checked: number;
  readonly anchored: boolean;
  readonly first_bad_seq: number | null;
  readonly reason:
    | ('hash_mismatch' | 'link_broken' | 'seq_gap' | 'truncated' | (string & {}))
    | null;
  readonly head: {
    readonly seq: number;
    readonly hash: string;
    readonly at: string;
  } | null;
}

export interface Member {
  readonly id: string;
  readonly role: 'owner' | 'admin' | 'member' | 'approver' | 'viewer' | (string & {});
  /** Masked. */
  readonly address: string | null;
  /** `asked`: an owner must approve the invitation first. */
  readonly status: 'asked' | 'invited' | 'active' | 'removed' | (string & {});
  /** Where they are asked; null if they decide nothing. */
  readonly channel_id: string | null;
  readonly invited_by: string | null;
  readonly created_at: string;
  /** When the invitation expires; null if it has none. */
  readonly expires_at: string | null;
  readonly joined_at: string | null;
}

export interface MemberInviteAnswer {
  readonly member: Member;
  /** The request that an owner decides first. */
  readonly request_id: string | null;
}

export interface MemberPage {
  readonly items: readonly Member[];
  readonly next_cursor: null;
}

export interface MemberRemoveAnswer {
  readonly id: string;
  readonly removed_at: string | null;
  readonly revoked_keys: readonly string[];
  /** The request that an owner decides first. */
  readonly request_id: string | null;
}

export interface MemberRoleAnswer {
  readonly member: Member;
  /** The request that an owner decides first. */
  readonly request_id: string | null;
}

export interface NewKey {
  readonly id: string;
  readonly name: string;
  readonly last4: string;
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
  readonly created_at: string;
  readonly created_by: string | null;
  readonly last_used_at: string | null;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  /** The host of the app that a person let in by OAuth; null for other keys. */
  readonly client: string | null;
  /** The secret, shown only once. */
  readonly api_key: string;
}

export interface Policy {
  readonly version: number;
  readonly rules: readonly PolicyRule[];
  readonly note: string | null;
  readonly approved_by: string | null;
  readonly approved_at: string | null;
}

export interface PolicyDiffAnswer {
  /** The version compared with. */
  readonly version: number;
  readonly changed: boolean;
  /** `+ …` added, `- …` removed, `  …` unchanged. */
  readonly lines: readonly string[];
  readonly warnings: readonly {
    readonly rule: string;
    readonly message: string;
  }[];
}

/** The whole document, `{"rules": […]}`. */
export interface PolicyDocument {
  /** The first rule whose conditions all match decides; a rule without conditions matches everything. */
  readonly rules: readonly {
    readonly id?: string | undefined;
    readonly effect:
      | 'allow'
      | 'deny'
      | 'require_approval'
      | 'auto_approve'
      | 'auto_approve_notify'
      | (string & {});
    /** Exact, or a prefix and `*`. */
    readonly action?: (string | readonly string[]) | undefined;
    readonly tool?: (('file_url' | 'email_send' | (string & {})) | readonly string[]) | undefined;
    readonly amount_gt?: number | undefined;
    /** Without its sign. */
    readonly amount_lte?: number | undefined;
    readonly risk?: (('low' | 'medium' | 'high' | (string & {})) | readonly string[]) | undefined;
    /** `example.com`, `*.example.com`. */
    readonly recipient_domains?: readonly string[] | undefined;
    /** Channels to ask. */
    readonly approvers?: readonly string[] | undefined;
    readonly approvals?: number | undefined;
    readonly description?: string | undefined;
  }[];
}

export interface PolicyRule {
  readonly id: string;
  readonly effect:
    | 'allow'
    | 'deny'
    | 'require_approval'
    | 'auto_approve'
    | 'auto_approve_notify'
    | (string & {});
  readonly action?: readonly string[] | undefined;
  readonly tool?: readonly ('file_url' | 'email_send' | (string & {}))[] | undefined;
  readonly amount_lte?: number | undefined;
  readonly amount_gt?: number | undefined;
  readonly risk?: readonly ('low' | 'medium' | 'high' | (string & {}))[] | undefined;
  readonly recipient_domains?: readonly string[] | undefined;
  readonly approvers?: readonly string[] | undefined;
  readonly approvals?: number | undefined;
  readonly description?: string | undefined;
}

export interface PolicySetAnswer {
  readonly request_id: string;
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
  readonly comment: string | null;
  readonly hint: string | null;
  readonly decided_by: string | null;
  readonly state_ref: string | null;
  readonly expires_at: string;
  readonly poll_after_seconds: number | null;
  readonly warnings: readonly {
    readonly rule: string;
    readonly message: string;
  }[];
}

export interface PolicySuggestAnswer {
  readonly items: readonly PolicySuggestion[];
}

export interface PolicySuggestion {
  readonly action: string;
  /** All requests for this action that people decided. */
  readonly approved: number;
  /** Counted from this time. */
  readonly since: string;
  readonly first_at: string;
  readonly last_at: string;
  /** How many different people. */
  readonly by: number;
  readonly rule: PolicyRule;
  /** The rule to put it before. Null: it goes to the end. */
  readonly before: string | null;
  /** The newest requests. */
  readonly examples: readonly string[];
}

export interface PolicyTestAnswer {
  /** Null if you passed a document. */
  readonly version: number | null;
  readonly effect:
    | 'allow'
    | 'deny'
    | 'require_approval'
    | 'auto_approve'
    | 'auto_approve_notify'
    | (string & {});
  readonly rule: string | null;
  readonly sentence: string;
  readonly trace: readonly {
    readonly rule: string;
    readonly effect:
      | 'allow'
      | 'deny'
      | 'require_approval'
      | 'auto_approve'
      | 'auto_approve_notify'
      | (string & {});
    readonly says: string;
    readonly matched: boolean;
    readonly decides: boolean;
    readonly failed: readonly {
      readonly field: string;
      readonly wanted: string;
      readonly given: string;
    }[];
  }[];
}

export interface ProjectCreateAnswer {
  readonly project: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly created_at: string;
  };
  readonly key: {
    readonly id: string;
    readonly name: string;
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
    readonly created_at: string;
  };
  /** The secret, shown only once. */
  readonly api_key: string;
  readonly urls: {
    readonly api: string;
    readonly mcp: string;
    readonly hooks: string;
  };
  /** The owner's, active. */
  readonly channel: {
    readonly id: string;
    readonly kind: 'email' | 'telegram' | (string & {});
    readonly label: string;
    /** Masked; null for Telegram. */
    readonly address: string | null;
    readonly status: 'added' | 'verified' | 'active' | 'removed' | (string & {});
    readonly owner: boolean;
    readonly created_at: string;
    readonly verified_at: string | null;
    readonly activated_at: string | null;
    readonly last_used_at: string | null;
  };
}

export interface Request {
  readonly request_id: string;
  readonly kind:
    | 'approval'
    | 'question'
    | 'policy'
    | 'file_url'
    | 'email_send'
    | 'channel'
    | 'member'
    | (string & {});
  readonly status:
    | 'pending'
    | 'approved'
    | 'denied'
    | 'modified'
    | 'needs_context'
    | 'expired'
    | 'answered'
    | (string & {});
  readonly action: string | null;
  readonly summary: string;
  readonly details: string | null;
  readonly risk: ('low' | 'medium' | 'high' | (string & {})) | null;
  readonly amount: number | null;
  readonly question: string | null;
  readonly options: readonly string[];
  readonly decision: string | null;
  readonly comment: string | null;
  readonly hint: string | null;
  readonly decided_by: string | null;
  readonly decided_at: string | null;
  readonly created_at: string;
  readonly expires_at: string;
  readonly requested_by: {
    readonly key_id: string;
    readonly agent: string | null;
    readonly platform: string;
  };
  readonly approvers: readonly string[];
  readonly notified: readonly {
    readonly channel_id: string;
    readonly kind: string;
    readonly status: string;
    readonly at: string | null;
  }[];
  readonly policy_version: number;
  readonly rule: string | null;
  readonly state_ref: string | null;
  readonly callback_url: string | null;
  readonly event_id: string | null;
  readonly bind: unknown;
  readonly spent_at: string | null;
  readonly spent_by: string | null;
  readonly approvals: {
    readonly needed: number;
    readonly given: readonly {
      readonly channel_id: string;
      readonly at: string;
    }[];
  };
}

export interface RequestCallbackSecretAnswer {
  /** Receivers check signatures with it; shown only once. */
  readonly secret: string;
  readonly created_at: string;
  /** When the old secret stops signing. */
  readonly previous_valid_until: string | null;
}

export interface RequestPage {
  readonly items: readonly Request[];
  readonly next_cursor: string | null;
}

export interface RequestUseAnswer {
  readonly request_id: string;
  readonly status: 'approved' | 'modified' | (string & {});
  readonly decision: string | null;
  readonly comment: string | null;
  readonly spent_at: string;
  readonly spent_by: string;
}

export interface RequestWithdrawAnswer {
  readonly request_id: string;
  readonly status:
    | 'pending'
    | 'approved'
    | 'denied'
    | 'modified'
    | 'needs_context'
    | 'expired'
    | 'answered'
    | (string & {});
  readonly withdrawn: boolean;
  readonly hint: string | null;
}

export interface Resumed {
  readonly parks: number;
  /** What woke it: an id, a time, or `requeued`. */
  readonly because: string;
  readonly waited_for: readonly {
    readonly id: string;
    readonly status: string;
  }[];
  readonly answers: readonly {
    readonly request_id: string;
    readonly status: string;
    readonly decision: string | null;
    readonly comment: string | null;
    readonly decided_by: string | null;
    readonly decided_at: string | null;
  }[];
  readonly state: unknown;
}

export interface Route {
  readonly id: string;
  readonly callback_url: string;
  readonly match_source: string | null;
  readonly match_type: string | null;
  /** False after a 410 Gone answer or `POST /v1/routes/{id}/disable`. */
  readonly enabled: boolean;
  readonly disabled_reason: string | null;
  readonly created_at: string;
}

export interface RouteAddAnswer {
  readonly id: string;
  readonly callback_url: string;
  readonly match_source: string | null;
  readonly match_type: string | null;
  /** False after a 410 Gone answer or `POST /v1/routes/{id}/disable`. */
  readonly enabled: boolean;
  readonly disabled_reason: string | null;
  readonly created_at: string;
  /** Receivers check signatures with it; shown only once. */
  readonly secret: string;
  /** Why the route might never match. */
  readonly warnings: readonly string[];
}

export interface RouteAttempt {
  readonly attempt: number;
  readonly at: string;
  /** Null if no answer came. */
  readonly status_code: number | null;
  readonly duration_ms: number;
  readonly error: string | null;
  /** The first 1 KB of the answer. */
  readonly response: string | null;
}

export interface RouteDelivery {
  readonly delivery_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly status: 'pending' | 'delivered' | 'dead' | 'cancelled' | (string & {});
  /** How many attempts so far. */
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly created_at: string;
  readonly finished_at: string | null;
  /** Newest first. */
  readonly log: readonly RouteAttempt[];
}

export interface RouteDeliveryPage {
  readonly items: readonly RouteDelivery[];
  readonly next_cursor: string | null;
}

export interface RouteEnableAnswer {
  readonly id: string;
  readonly callback_url: string;
  readonly match_source: string | null;
  readonly match_type: string | null;
  /** False after a 410 Gone answer or `POST /v1/routes/{id}/disable`. */
  readonly enabled: boolean;
  readonly disabled_reason: string | null;
  readonly created_at: string;
  /** Deliveries due now. */
  readonly resumed: number;
  /** True if there are more: call again. */
  readonly more: boolean;
}

export interface RouteRemoveAnswer {
  readonly id: string;
  readonly removed_at: string;
}

export interface RouteRetryAnswer {
  readonly route_id: string;
  /** Deliveries due now. */
  readonly retried: number;
  /** True if there are more: call again. */
  readonly more: boolean;
}

export interface RouteTestAnswer {
  /** The `webhook-id` sent. */
  readonly event_id: string;
  /** True for a 2xx answer. */
  readonly delivered: boolean;
  readonly status_code: number | null;
  readonly duration_ms: number;
  readonly error: string | null;
  /** The first 1 KB of the answer. */
  readonly response: string | null;
}

export interface RouteWithCounts {
  readonly id: string;
  readonly callback_url: string;
  readonly match_source: string | null;
  readonly match_type: string | null;
  /** False after a 410 Gone answer or `POST /v1/routes/{id}/disable`. */
  readonly enabled: boolean;
  readonly disabled_reason: string | null;
  readonly created_at: string;
  /** Deliveries waiting for an attempt. */
  readonly pending: number;
  /** Deliveries given up; see `POST /v1/routes/{id}/retry`. */
  readonly dead: number;
}

export interface RouteWithCountsPage {
  readonly items: readonly RouteWithCounts[];
  readonly next_cursor: null;
}

export interface SessionHelloAnswer {
  readonly agent: string;
  readonly platform: string;
  readonly started_at: string;
}

export interface Source {
  readonly name: string;
  readonly type: 'webhook' | 'email' | (string & {});
  readonly verification:
    | 'stripe'
    | 'github'
    | 'hmac_sha256'
    | 'standard_webhooks'
    | 'none'
    | (string & {});
  readonly signature_header: string | null;
  readonly url: string | null;
  readonly address: string | null;
  readonly created_at: string;
  readonly previous_secret_valid_until: string | null;
}

export interface SourceRemoveAnswer {
  readonly name: string;
  readonly removed_at: string;
}

export interface SourceRotateAnswer {
  readonly name: string;
  readonly verification:
    | 'stripe'
    | 'github'
    | 'hmac_sha256'
    | 'standard_webhooks'
    | 'none'
    | (string & {});
  readonly rotated_at: string;
  /** When the old secret stops working. */
  readonly previous_valid_until: string | null;
}

export interface SourceSignAnswer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface SourceWithCounts {
  readonly name: string;
  readonly type: 'webhook' | 'email' | (string & {});
  readonly verification:
    | 'stripe'
    | 'github'
    | 'hmac_sha256'
    | 'standard_webhooks'
    | 'none'
    | (string & {});
  readonly signature_header: string | null;
  readonly url: string | null;
  readonly address: string | null;
  readonly created_at: string;
  readonly previous_secret_valid_until: string | null;
  readonly last_event_at: string | null;
  readonly events_24h: number;
  readonly rejected_24h: number;
  readonly stored_bytes: number;
  readonly limited: {
    readonly kind:
      | 'source_bytes'
      | 'project_bytes'
      | 'events_per_minute'
      | 'bytes_per_10_minutes'
      | (string & {});
    readonly limit: number;
    readonly used: number;
    readonly retry_after: number;
  } | null;
}

export interface SourceWithCountsPage {
  readonly items: readonly SourceWithCounts[];
  readonly next_cursor: null;
}

export interface StateHistoryAnswer {
  readonly task_id: string;
  readonly items: readonly StateVersion[];
}

export interface StateSaveAnswer {
  readonly task_id: string;
  readonly key: string;
  readonly saved_at: string;
  readonly version: number;
}

export interface StateVersion {
  readonly version: number;
  readonly saved_at: string;
  readonly size_bytes: number;
  readonly note: string | null;
  readonly key_id: string | null;
  readonly agent: string | null;
}

export interface StoryAnswer {
  readonly event: {
    readonly id: string;
    readonly source: string;
    readonly channel: string;
    readonly type: string;
    readonly received_at: string;
    readonly verified: boolean;
    readonly status: 'pending' | 'claimed' | 'done' | 'failed' | 'dead' | 'waiting' | (string & {});
  };
  readonly requests: readonly Readonly<Record<string, unknown>>[];
  readonly entries: readonly LedgerEntry[];
  readonly openings: readonly {
    readonly seq: number;
    readonly salt: string;
    readonly value: unknown;
  }[];
}

export interface TaskState {
  readonly task_id: string;
  readonly state: unknown;
  readonly note: string | null;
  readonly saved_at: string;
  readonly version: number;
}

export interface UsageAnswer {
  readonly disk: {
    readonly used_bytes: number;
    readonly limit_bytes: number;
    readonly key_bytes: number;
    readonly file_bytes: number;
    readonly upload_bytes: number;
  };
  readonly keys: {
    readonly used: number;
    readonly limit: number;
  };
  readonly transfer: {
    readonly month: string;
    readonly used_bytes: number;
    readonly limit_bytes: number;
    readonly resets_at: string;
  };
  readonly emails: {
    readonly today: number;
    readonly day_limit: number;
    readonly this_month: number;
    readonly month_limit: number;
    /** Why sending is blocked, or null. */
    readonly blocked: string | null;
  };
  readonly events: {
    /** Payloads, headers and attachments of events, and 2 KB each, until their purge. */
    readonly stored_bytes: number;
    readonly limit_bytes: number | null;
    readonly source_limits: {
      readonly stored_bytes: number | null;
      readonly events_per_minute: number | null;
      readonly bytes_per_10_minutes: number | null;
    };
    readonly sources: readonly {
      readonly name: string;
      readonly stored_bytes: number;
      readonly events_this_minute: number;
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
  };
}

export interface WhoamiAnswer {
  readonly project: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
  };
  readonly key: {
    readonly id: string;
    readonly name: string;
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
    readonly disk_prefixes: readonly string[] | null;
    readonly expires_at: string | null;
  };
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
  readonly agent: {
    readonly label: string | null;
    readonly platform: string;
    readonly source: 'header' | 'hello' | 'mcp_client_info' | 'user_agent' | 'none' | (string & {});
  };
  readonly urls: {
    readonly api: string;
    readonly mcp: string;
    readonly hooks: string;
  };
  readonly server: {
    readonly version: string;
    readonly channels: readonly string[];
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
  /** When the key stops working, ISO 8601 (default: never). */
  readonly expires_at?: string | undefined;
}

/** Revoke a key. */
export interface KeyRevokeInput {
  /** The key, `key_…`. */
  readonly key_id: string;
}

/** Give a key a new secret. */
export interface KeyRotateInput {
  /** The key, `key_…`. */
  readonly key_id: string;
  /** How long the old secret keeps working. */
  readonly grace_seconds?: number | undefined;
}

/** List active sources and their addresses. */
export type SourceListInput = Readonly<Record<string, unknown>>;

/** Add a source and get its address. */
export interface SourceAddInput {
  /** What the source receives. */
  readonly type: 'webhook' | 'email' | (string & {});
  /** Unique in the project. */
  readonly name: string;
  /** How deliveries are signed; `none` accepts anyone with the URL. */
  readonly verification?:
    | ('stripe' | 'github' | 'hmac_sha256' | 'standard_webhooks' | 'none' | (string & {}))
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
}

/** List inbox events, oldest first. */
export interface InboxListInput {
  /** The name of a source. */
  readonly source?: string | undefined;
  /** An event type, or a prefix: `invoice.*`. */
  readonly type?: string | undefined;
  /** Only events in this state. */
  readonly status?:
    | ('pending' | 'claimed' | 'done' | 'failed' | 'dead' | 'waiting' | (string & {}))
    | undefined;
  /** Received at or after, ISO 8601. */
  readonly since?: string | undefined;
  /** Mails of this thread. */
  readonly thread?: string | undefined;
  /** Leave out answers to other keys' questions. */
  readonly mine?: boolean | undefined;
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
  /** How long to wait. */
  readonly timeout_seconds?: number | undefined;
}

/** Read an event in any state. */
export interface InboxGetInput {
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
  /** How many events to claim at most. */
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
  /** Policies match on it. */
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
  /** Ask again after this. */
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
  /** Ask again after this. */
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
        | (string & {})
      )
    | undefined;
  /** The next_cursor from the previous page. */
  readonly cursor?: string | undefined;
  /** How many to return. */
  readonly limit?: number | undefined;
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

/** Read the current policy. */
export type PolicyGetInput = Readonly<Record<string, unknown>>;

/** Propose a new policy for people to approve. */
export interface PolicySetInput {
  /** The whole document, `{"rules": […]}`. */
  readonly policy: {
    /** The first rule whose conditions all match decides; a rule without conditions matches everything. */
    readonly rules: readonly {
      readonly id?: string | undefined;
      readonly effect:
        | 'allow'
        | 'deny'
        | 'require_approval'
        | 'auto_approve'
        | 'auto_approve_notify'
        | (string & {});
      /** Exact, or a prefix and `*`. */
      readonly action?: (string | readonly string[]) | undefined;
      readonly tool?: (('file_url' | 'email_send' | (string & {})) | readonly string[]) | undefined;
      readonly amount_gt?: number | undefined;
      /** Without its sign. */
      readonly amount_lte?: number | undefined;
      readonly risk?: (('low' | 'medium' | 'high' | (string & {})) | readonly string[]) | undefined;
      /** `example.com`, `*.example.com`. */
      readonly recipient_domains?: readonly string[] | undefined;
      /** Channels to ask. */
      readonly approvers?: readonly string[] | undefined;
      readonly approvals?: number | undefined;
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
  /** Its risk. */
  readonly risk?: ('low' | 'medium' | 'high' | (string & {})) | undefined;
  /** The recipients' domains. */
  readonly recipient_domains?: readonly string[] | undefined;
  /** The whole document, `{"rules": […]}`. */
  readonly policy?:
    | {
        /** The first rule whose conditions all match decides; a rule without conditions matches everything. */
        readonly rules: readonly {
          readonly id?: string | undefined;
          readonly effect:
            | 'allow'
            | 'deny'
            | 'require_approval'
            | 'auto_approve'
            | 'auto_approve_notify'
            | (string & {});
          /** Exact, or a prefix and `*`. */
          readonly action?: (string | readonly string[]) | undefined;
          readonly tool?:
            | (('file_url' | 'email_send' | (string & {})) | readonly string[])
            | undefined;
          readonly amount_gt?: number | undefined;
          /** Without its sign. */
          readonly amount_lte?: number | undefined;
          readonly risk?:
            | (('low' | 'medium' | 'high' | (string & {})) | readonly string[])
            | undefined;
          /** `example.com`, `*.example.com`. */
          readonly recipient_domains?: readonly string[] | undefined;
          /** Channels to ask. */
          readonly approvers?: readonly string[] | undefined;
          readonly approvals?: number | undefined;
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
      readonly id?: string | undefined;
      readonly effect:
        | 'allow'
        | 'deny'
        | 'require_approval'
        | 'auto_approve'
        | 'auto_approve_notify'
        | (string & {});
      /** Exact, or a prefix and `*`. */
      readonly action?: (string | readonly string[]) | undefined;
      readonly tool?: (('file_url' | 'email_send' | (string & {})) | readonly string[]) | undefined;
      readonly amount_gt?: number | undefined;
      /** Without its sign. */
      readonly amount_lte?: number | undefined;
      readonly risk?: (('low' | 'medium' | 'high' | (string & {})) | readonly string[]) | undefined;
      /** `example.com`, `*.example.com`. */
      readonly recipient_domains?: readonly string[] | undefined;
      /** Channels to ask. */
      readonly approvers?: readonly string[] | undefined;
      readonly approvals?: number | undefined;
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
}

/** Save a file, or open or complete an upload. */
export interface FilePutInput {
  /** Such as `a/b.pdf` or `disk://a/b.pdf`. */
  readonly path: string;
  /** The bytes in standard base64 with `=` padding, up to 1 MB decoded. */
  readonly content_base64?: string | undefined;
  /** Of `content_base64` (default `application/octet-stream`). */
  readonly content_type?: string | undefined;
  /** Get a URL to PUT up to 100 MB to. */
  readonly upload?:
    | {
        /** Exact size in bytes. */
        readonly size: number;
        readonly content_type?: string | undefined;
      }
    | undefined;
  /** The upload_id, once you've sent the bytes. */
  readonly complete?: string | undefined;
  /** Write only if this is the current version; 0: only if nothing exists. */
  readonly if_version?: number | undefined;
}

/** Delete a file and end its links. */
export interface FileDeleteInput {
  /** Such as `a/b.pdf` or `disk://a/b.pdf`. */
  readonly path: string;
  /** Delete only if this is the current version. */
  readonly if_version?: number | undefined;
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
