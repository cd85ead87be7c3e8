type Json = Readonly<Record<string, unknown>>;

const EVENT = {
  id: 'evt_01m84xaaazxwddz743pjv0zf3w',
  project: 'prj_hk7qhvs227z72fns',
  source: 'open',
  channel: 'webhook',
  type: 'webhook.received',
  received_at: '2026-11-23T19:14:54.431Z',
  verified: false,
  trust: 'external_untrusted',
  suspected_replay: false,
  reply_to: null,
  headers: {
    'content-type': 'application/json',
    'webhook-id': 'delivery-1',
  },
  payload: {
    hello: 'world',
  },
  payload_url: null,
  payload_truncated: false,
  payload_purged: false,
  status: 'pending',
  attempts: 0,
  retry_at: null,
};

const REQUEST = {
  request_id: 'req_01m84xabsynhfx6d8n41zd9t60',
  kind: 'approval',
  status: 'pending',
  action: 'deploy.staging',
  summary: 'Deploy v2.1 to staging',
  details: null,
  risk: 'medium',
  amount: null,
  question: null,
  options: [],
  decision: null,
  comment: null,
  hint: "Not decided yet. This isn't a denial. Save your state with state_save, then call request_status with this request_id.",
  decided_by: null,
  decided_at: null,
  created_at: '2026-11-23T19:14:55.934Z',
  expires_at: '2026-11-24T19:14:55.934Z',
  requested_by: {
    key_id: 'key_01m84xa8bmm3510762kv0beahd',
    agent: null,
    platform: 'unknown',
  },
  approvers: ['chn_01m84xa8axh3pnv346mhfxnzxc'],
  notified: [
    {
      channel_id: 'chn_01m84xa8axh3pnv346mhfxnzxc',
      kind: 'email',
      status: 'sent',
      at: '2026-11-23T19:14:56.099Z',
    },
  ],
  policy_version: 0,
  rule: null,
  state_ref: 'preparation',
  callback_url: null,
  event_id: null,
  bind: null,
  spent_at: null,
  spent_by: null,
  approvals: {
    needed: 1,
    given: [],
  },
};

const SOURCE = {
  name: 'github',
  type: 'webhook',
  verification: 'github',
  signature_header: null,
  url: 'https://svc.example.com/w/vq1c8wkzj4f1',
  address: null,
  created_at: '2026-11-23T19:14:52.899Z',
  previous_secret_valid_until: null,
};

const FILE = {
  path: 'example/hello.txt',
  ref: 'disk://example/hello.txt',
  size_bytes: 6,
  content_type: 'text/plain',
  updated_at: '2026-11-23T19:14:56.671Z',
  sha256: '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03',
  version: 5,
};

/** An answer of each main operation, as a gateway gave it. */
export const ANSWERS: Readonly<Record<string, Json>> = {
  whoami: {
    project: {
      id: 'prj_hk7qhvs227z72fns',
      slug: 'acme',
      name: 'Acme',
    },
    key: {
      id: 'key_01m84xa8bmm3510762kv0beahd',
      name: 'admin',
      scopes: ['admin', 'ledger:read', 'inbox:read', 'inbox:write', 'approvals', 'disk', 'send'],
      disk_prefixes: null,
      expires_at: null,
    },
    scopes: ['admin', 'ledger:read', 'inbox:read', 'inbox:write', 'approvals', 'disk', 'send'],
    agent: {
      label: null,
      platform: 'unknown',
      source: 'none',
    },
    urls: {
      api: 'https://svc.example.com',
      mcp: 'https://svc.example.com/mcp',
      hooks: 'https://svc.example.com',
    },
    server: {
      version: '0.1.0',
      channels: ['email'],
    },
  },
  key_list: {
    items: [
      {
        id: 'key_01m84xa8bmm3510762kv0beahd',
        name: 'admin',
        last4: 'DeFC',
        scopes: ['admin', 'ledger:read', 'inbox:read', 'inbox:write', 'approvals', 'disk', 'send'],
        disk_prefixes: null,
        created_at: '2026-11-23T19:14:52.404Z',
        created_by: null,
        last_used_at: null,
        expires_at: null,
        revoked_at: null,
        client: null,
      },
    ],
    next_cursor: null,
  },
  source_add: SOURCE,
  source_list: {
    items: [
      {
        ...SOURCE,
        last_event_at: null,
        events_24h: 0,
        rejected_24h: 0,
        stored_bytes: 2731,
        limited: null,
      },
    ],
    next_cursor: null,
  },
  inbox_list: {
    items: [EVENT],
    next_cursor: null,
  },
  inbox_wait: {
    event: EVENT,
  },
  inbox_get: {
    ...EVENT,
    result: null,
    reason: null,
  },
  inbox_claim: {
    ...EVENT,
    status: 'claimed',
    lease_id: 'lse_01m84xaav1jpa1jqjmqdxwz34p',
    lease_expires_at: '2026-11-23T19:15:54.945Z',
  },
  inbox_next: {
    items: [
      {
        ...EVENT,
        status: 'claimed',
        lease_id: 'lse_01m84xaav1jpa1jqjmqdxwz34p',
        lease_expires_at: '2026-11-23T19:15:54.945Z',
      },
    ],
  },
  inbox_ack: {
    event_id: 'evt_01m84xaaazxwddz743pjv0zf3w',
    status: 'done',
    acked_at: '2026-11-23T19:14:55.413Z',
  },
  inbox_nack: {
    event_id: 'evt_01m84xaaazxwddz743pjv0zf3w',
    status: 'failed',
    attempts: 1,
    retry_at: '2026-11-23T19:15:25.531Z',
  },
  ask_approval: {
    request_id: 'req_01m84xabsynhfx6d8n41zd9t60',
    status: 'pending',
    decision: null,
    comment: null,
    hint: "Not decided yet. This isn't a denial. Save your state with state_save, then call request_status with this request_id.",
    decided_by: null,
    state_ref: null,
    expires_at: '2026-11-24T19:14:55.934Z',
    poll_after_seconds: 30,
  },
  request_status: REQUEST,
  request_list: {
    items: [REQUEST],
    next_cursor: null,
  },
  channel_list: {
    items: [
      {
        id: 'chn_01m84xa8axh3pnv346mhfxnzxc',
        kind: 'email',
        label: 'owner',
        address: 'o***@localhost',
        status: 'active',
        owner: true,
        created_at: '2026-11-23T19:14:52.381Z',
        verified_at: '2026-11-23T19:14:52.381Z',
        activated_at: '2026-11-23T19:14:52.381Z',
        last_used_at: null,
      },
    ],
    next_cursor: null,
  },
  policy_get: {
    version: 0,
    rules: [],
    note: null,
    approved_by: null,
    approved_at: null,
  },
  kv_get: {
    key: 'example/counter',
    value: {
      n: 1,
    },
    expires_at: '2026-11-23T20:14:56.238Z',
    updated_at: '2026-11-23T19:14:56.238Z',
    version: 1,
  },
  kv_set: {
    key: 'example/counter',
    size_bytes: 7,
    expires_at: '2026-11-23T20:14:56.330Z',
    version: 2,
  },
  kv_list: {
    items: [
      {
        key: 'example/counter',
        size_bytes: 7,
        expires_at: '2026-11-23T20:14:56.330Z',
        updated_at: '2026-11-23T19:14:56.330Z',
        version: 2,
      },
    ],
    next_cursor: null,
  },
  state_load: {
    task_id: 'example-task',
    state: {
      step: 3,
    },
    note: 'waits for approval',
    saved_at: '2026-11-23T19:14:56.502Z',
    version: 3,
  },
  state_save: {
    task_id: 'example-task',
    key: 'state/example-task',
    saved_at: '2026-11-23T19:14:56.604Z',
    version: 4,
  },
  file_put: FILE,
  file_get: {
    ...FILE,
    content_base64: 'aGVsbG8K',
  },
  file_list: {
    items: [FILE],
    next_cursor: null,
  },
  email_send: {
    batch_id: 'bat_01m84xacwb4r1z7n1gs7dvxba3',
    request_id: 'req_01m84xacwb4r1z7n1gs7dvxba1',
    thread_id: 'thr_01m84xacwb4r1z7n1gs7dvxba5',
    messages: [
      {
        message_id: 'msg_01m84xacwb4r1z7n1gs7dvxba4',
        to: 'ana@example.com',
        status: 'pending',
      },
    ],
    status: 'pending',
  },
  email_status: {
    status: 'pending',
    batch_id: 'bat_01m84xacwb4r1z7n1gs7dvxba3',
    request_id: 'req_01m84xacwb4r1z7n1gs7dvxba1',
    thread_id: 'thr_01m84xacwb4r1z7n1gs7dvxba5',
    messages: [
      {
        message_id: 'msg_01m84xacwb4r1z7n1gs7dvxba4',
        to: 'ana@example.com',
        status: 'pending',
      },
    ],
    subject: 'Hello',
    from: 'acme@inbox.example',
    created_at: '2026-11-23T19:14:57.035Z',
  },
  usage: {
    disk: {
      used_bytes: 23,
      limit_bytes: 1073741824,
      key_bytes: 17,
      file_bytes: 6,
      upload_bytes: 0,
    },
    keys: {
      used: 2,
      limit: 10000,
    },
    transfer: {
      month: '2026-11',
      used_bytes: 0,
      limit_bytes: 5368709120,
      resets_at: '2026-12-01T00:00:00.000Z',
    },
    emails: {
      today: 1,
      day_limit: 50,
      this_month: 1,
      month_limit: 1000,
      blocked: null,
    },
    events: {
      stored_bytes: 2731,
      limit_bytes: 10737418240,
      source_limits: {
        stored_bytes: 5368709120,
        events_per_minute: 6000,
        bytes_per_10_minutes: 209715200,
      },
      sources: [
        {
          name: 'github',
          stored_bytes: 2731,
          events_this_minute: 1,
          bytes_these_10_minutes: 2731,
          limited: null,
        },
      ],
    },
  },
  ledger_query: {
    items: [
      {
        seq: 27,
        at: '2026-11-23T19:14:57.144Z',
        op: 'source_add',
        agent: null,
        platform: 'unknown',
        key_id: 'key_01m84xa8bmm3510762kv0beahd',
        subject: null,
        request_id: 'p9tv2ggg0xem934c',
        outcome: 'error',
        code: 'SOURCE_NAME_TAKEN',
        input_digest: '725711612df63035db00e41162b5ec02eb8a9fcc0cd396a93ff0d7b2d0379b88',
        result_digest: null,
        prev_hash: '834534506759560cb3484e9f353f9b21f519d5d762be1147ff7d08fcb678f416',
        hash: '16cb3522dfa8d4abf232ac63306deb421c8a620ed1235a288a722f15634ad3f2',
      },
    ],
    next_cursor: 5,
  },
  ledger_verify: {
    ok: true,
    from_seq: 1,
    to_seq: 3,
    checked: 3,
    anchored: true,
    first_bad_seq: null,
    reason: null,
    head: {
      seq: 28,
      at: '2026-11-23T19:14:57.161Z',
      hash: '8d9eaba4a4dca630328dd0e09f8ce047e96b08d7f6bd2189345d9c13472fd8dd',
    },
  },
};
