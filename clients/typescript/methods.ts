// Written by `npm run surface` from the operations. Do not edit.

import type { CallOptions, RunOperation } from './call/place.ts';
import { List } from './call/list.ts';
import { PLACES } from './places.ts';
import type * as T from './types.ts';

/** A method for each operation. */
export class Methods {
  readonly #run: RunOperation;

  constructor(run: RunOperation) {
    this.#run = run;
  }

  /** Show this call's project, key and agent. */
  readonly whoami = (input: T.WhoamiInput = {}, options?: CallOptions): Promise<T.WhoamiAnswer> =>
    this.#run(PLACES.whoami, input, options);

  /** Show the project's usage and limits. */
  readonly usage = (input: T.UsageInput = {}, options?: CallOptions): Promise<T.UsageAnswer> =>
    this.#run(PLACES.usage, input, options);

  /** Show an event's story: who sent it, worked on it, decided and acted. */
  readonly story = (input: T.StoryInput, options?: CallOptions): Promise<T.StoryAnswer> =>
    this.#run(PLACES.story, input, options);

  readonly session = {
    /** Name the agent using this key. */
    hello: (input: T.SessionHelloInput, options?: CallOptions): Promise<T.SessionHelloAnswer> =>
      this.#run(PLACES.session_hello, input, options),
  };

  readonly key = {
    /** List the project's keys. */
    list: (
      input: T.KeyListInput = {},
      options?: CallOptions,
    ): List<T.KeyPage['items'][number], T.KeyPage> =>
      new List((cursor) => this.#run(PLACES.key_list, { ...input, ...cursor }, options)),
    /** Create an API key. */
    create: (input: T.KeyCreateInput, options?: CallOptions): Promise<T.KeyWithSecret> =>
      this.#run(PLACES.key_create, input, options),
    /** Show a key and what it made. */
    get: (input: T.KeyGetInput, options?: CallOptions): Promise<T.KeyGetAnswer> =>
      this.#run(PLACES.key_get, input, options),
    /** Revoke a key, and end what it made. */
    revoke: (input: T.KeyRevokeInput, options?: CallOptions): Promise<T.KeyRevokeAnswer> =>
      this.#run(PLACES.key_revoke, input, options),
    /** Give a key a new secret. */
    rotate: (input: T.KeyRotateInput, options?: CallOptions): Promise<T.KeyRotateAnswer> =>
      this.#run(PLACES.key_rotate, input, options),
  };

  readonly source = {
    /** List active sources and their addresses. */
    list: (input: T.SourceListInput = {}, options?: CallOptions): Promise<T.SourceWithCountsPage> =>
      this.#run(PLACES.source_list, input, options),
    /** Add a source and get its address. */
    add: (input: T.SourceAddInput, options?: CallOptions): Promise<T.Source> =>
      this.#run(PLACES.source_add, input, options),
    /** Remove a source; its URL stops at once. */
    remove: (input: T.SourceRemoveInput, options?: CallOptions): Promise<T.SourceRemoveAnswer> =>
      this.#run(PLACES.source_remove, input, options),
    /** Show one source and its last delivery. */
    get: (input: T.SourceGetInput, options?: CallOptions): Promise<T.SourceWithCounts> =>
      this.#run(PLACES.source_get, input, options),
    /** Give a source a new secret; its URL stays. */
    rotate: (input: T.SourceRotateInput, options?: CallOptions): Promise<T.SourceRotateAnswer> =>
      this.#run(PLACES.source_rotate, input, options),
    /** Sign a body as the source's sender would. */
    sign: (input: T.SourceSignInput, options?: CallOptions): Promise<T.SourceSignAnswer> =>
      this.#run(PLACES.source_sign, input, options),
  };

  readonly inbox = {
    /** List inbox events, oldest first. */
    list: (
      input: T.InboxListInput = {},
      options?: CallOptions,
    ): List<T.EventPage['items'][number], T.EventPage> =>
      new List((cursor) => this.#run(PLACES.inbox_list, { ...input, ...cursor }, options)),
    /** Read an event in any state. */
    get: (input: T.InboxGetInput, options?: CallOptions): Promise<T.EventWithResult> =>
      this.#run(PLACES.inbox_get, input, options),
    /** Get a link to a webhook's body, byte for byte as it came. */
    link: (input: T.InboxLinkInput, options?: CallOptions): Promise<T.EventLink> =>
      this.#run(PLACES.inbox_link, input, options),
    /** Claim a pending event and read it in full. */
    claim: (input: T.InboxClaimInput, options?: CallOptions): Promise<T.ClaimedEvent> =>
      this.#run(PLACES.inbox_claim, input, options),
    /** Finish a claimed event. */
    ack: (input: T.InboxAckInput, options?: CallOptions): Promise<T.InboxAckAnswer> =>
      this.#run(PLACES.inbox_ack, input, options),
    /** Return a claimed event to the queue. */
    nack: (input: T.InboxNackInput, options?: CallOptions): Promise<T.InboxNackAnswer> =>
      this.#run(PLACES.inbox_nack, input, options),
    /** Extend the lease on a claimed event. */
    extend: (input: T.InboxExtendInput, options?: CallOptions): Promise<T.InboxExtendAnswer> =>
      this.#run(PLACES.inbox_extend, input, options),
    /** Put a dead or waiting event back in the queue. */
    requeue: (input: T.InboxRequeueInput, options?: CallOptions): Promise<T.InboxRequeueAnswer> =>
      this.#run(PLACES.inbox_requeue, input, options),
    /** Put dead or done events back in the queue. */
    replay: (input: T.InboxReplayInput = {}, options?: CallOptions): Promise<T.InboxReplayAnswer> =>
      this.#run(PLACES.inbox_replay, input, options),
    /** Wait for pending events and claim them. */
    next: (input: T.InboxNextInput = {}, options?: CallOptions): Promise<T.InboxNextAnswer> =>
      this.#run(PLACES.inbox_next, input, options),
  };

  readonly route = {
    /** List routes that push events to URLs. */
    list: (input: T.RouteListInput = {}, options?: CallOptions): Promise<T.RouteWithCountsPage> =>
      this.#run(PLACES.route_list, input, options),
    /** Push matching events to a URL. */
    add: (input: T.RouteAddInput, options?: CallOptions): Promise<T.RouteAddAnswer> =>
      this.#run(PLACES.route_add, input, options),
    /** Remove a route and stop sending to its URL. */
    remove: (input: T.RouteRemoveInput, options?: CallOptions): Promise<T.RouteRemoveAnswer> =>
      this.#run(PLACES.route_remove, input, options),
    /** Disable a route until you enable it again. */
    disable: (input: T.RouteDisableInput, options?: CallOptions): Promise<T.Route> =>
      this.#run(PLACES.route_disable, input, options),
    /** Enable a disabled route. */
    enable: (input: T.RouteEnableInput, options?: CallOptions): Promise<T.RouteEnableAnswer> =>
      this.#run(PLACES.route_enable, input, options),
    /** Show a route's deliveries and attempts. */
    attempts: (
      input: T.RouteAttemptsInput,
      options?: CallOptions,
    ): List<T.RouteDeliveryPage['items'][number], T.RouteDeliveryPage> =>
      new List((cursor) => this.#run(PLACES.route_attempts, { ...input, ...cursor }, options)),
    /** Retry a route's deliveries now. */
    retry: (input: T.RouteRetryInput, options?: CallOptions): Promise<T.RouteRetryAnswer> =>
      this.#run(PLACES.route_retry, input, options),
    /** Send a signed test event to a route. */
    test: (input: T.RouteTestInput, options?: CallOptions): Promise<T.RouteTestAnswer> =>
      this.#run(PLACES.route_test, input, options),
  };

  readonly request = {
    /** Check a request's status. */
    status: (input: T.RequestStatusInput, options?: CallOptions): Promise<T.Request> =>
      this.#run(PLACES.request_status, input, options),
    /** List requests to people, newest first. */
    list: (
      input: T.RequestListInput = {},
      options?: CallOptions,
    ): List<T.RequestPage['items'][number], T.RequestPage> =>
      new List((cursor) => this.#run(PLACES.request_list, { ...input, ...cursor }, options)),
    /** Confirm that the answer arrived, which closes its event. */
    received: (
      input: T.RequestReceivedInput,
      options?: CallOptions,
    ): Promise<T.RequestReceivedAnswer> => this.#run(PLACES.request_received, input, options),
    /** Take back a request nobody has decided yet. */
    withdraw: (
      input: T.RequestWithdrawInput,
      options?: CallOptions,
    ): Promise<T.RequestWithdrawAnswer> => this.#run(PLACES.request_withdraw, input, options),
    /** Use an approval, once, right before the act. */
    use: (input: T.RequestUseInput, options?: CallOptions): Promise<T.RequestUseAnswer> =>
      this.#run(PLACES.request_use, input, options),
    /** Create or rotate the secret that signs request callbacks. */
    callbackSecret: (
      input: T.RequestCallbackSecretInput = {},
      options?: CallOptions,
    ): Promise<T.RequestCallbackSecretAnswer> =>
      this.#run(PLACES.request_callback_secret, input, options),
  };

  readonly channel = {
    /** List the people agents can ask. */
    list: (input: T.ChannelListInput = {}, options?: CallOptions): Promise<T.ChannelPage> =>
      this.#run(PLACES.channel_list, input, options),
    /** Add a person agents can ask, by email or Telegram. */
    add: (input: T.ChannelAddInput, options?: CallOptions): Promise<T.ChannelAddAnswer> =>
      this.#run(PLACES.channel_add, input, options),
    /** Remove a person agents can ask. */
    remove: (input: T.ChannelRemoveInput, options?: CallOptions): Promise<T.ChannelRemoveAnswer> =>
      this.#run(PLACES.channel_remove, input, options),
  };

  readonly member = {
    /** List the people who share the project. */
    list: (input: T.MemberListInput = {}, options?: CallOptions): Promise<T.MemberPage> =>
      this.#run(PLACES.member_list, input, options),
    /** Invite a person to share the project. */
    invite: (input: T.MemberInviteInput, options?: CallOptions): Promise<T.MemberInviteAnswer> =>
      this.#run(PLACES.member_invite, input, options),
    /** Give a member another role. */
    role: (input: T.MemberRoleInput, options?: CallOptions): Promise<T.MemberRoleAnswer> =>
      this.#run(PLACES.member_role, input, options),
    /** Remove a member, or withdraw an invitation. */
    remove: (input: T.MemberRemoveInput, options?: CallOptions): Promise<T.MemberRemoveAnswer> =>
      this.#run(PLACES.member_remove, input, options),
  };

  readonly project = {
    /** Rename the project. */
    rename: (input: T.ProjectRenameInput, options?: CallOptions): Promise<T.ProjectRenameAnswer> =>
      this.#run(PLACES.project_rename, input, options),
    /** Delete the project with everything in it, for good. */
    delete: (input: T.ProjectDeleteInput, options?: CallOptions): Promise<T.ProjectDeleteAnswer> =>
      this.#run(PLACES.project_delete, input, options),
  };

  readonly policy = {
    /** Read the current policy. */
    get: (input: T.PolicyGetInput = {}, options?: CallOptions): Promise<T.Policy> =>
      this.#run(PLACES.policy_get, input, options),
    /** Propose a new policy for people to approve. */
    set: (input: T.PolicySetInput, options?: CallOptions): Promise<T.PolicySetAnswer> =>
      this.#run(PLACES.policy_set, input, options),
    /** See what the policy would decide and why. */
    test: (input: T.PolicyTestInput = {}, options?: CallOptions): Promise<T.PolicyTestAnswer> =>
      this.#run(PLACES.policy_test, input, options),
    /** Preview what a policy would change. */
    diff: (input: T.PolicyDiffInput, options?: CallOptions): Promise<T.PolicyDiffAnswer> =>
      this.#run(PLACES.policy_diff, input, options),
    /** Suggest rules for what people always approve. */
    suggest: (
      input: T.PolicySuggestInput = {},
      options?: CallOptions,
    ): Promise<T.PolicySuggestAnswer> => this.#run(PLACES.policy_suggest, input, options),
  };

  readonly kv = {
    /** List keys in byte order. */
    list: (
      input: T.KvListInput = {},
      options?: CallOptions,
    ): List<T.KvKeyPage['items'][number], T.KvKeyPage> =>
      new List((cursor) => this.#run(PLACES.kv_list, { ...input, ...cursor }, options)),
    /** Read a key's value. */
    get: (input: T.KvGetInput, options?: CallOptions): Promise<T.KvGetAnswer> =>
      this.#run(PLACES.kv_get, input, options),
    /** Store a JSON value under a key. */
    set: (input: T.KvSetInput, options?: CallOptions): Promise<T.KvSetAnswer> =>
      this.#run(PLACES.kv_set, input, options),
    /** Add to a counter. */
    incr: (input: T.KvIncrInput, options?: CallOptions): Promise<T.KvIncrAnswer> =>
      this.#run(PLACES.kv_incr, input, options),
    /** Change when a key expires. */
    touch: (input: T.KvTouchInput, options?: CallOptions): Promise<T.KvTouchAnswer> =>
      this.#run(PLACES.kv_touch, input, options),
    /** Read the values of several keys. */
    mget: (input: T.KvMgetInput, options?: CallOptions): Promise<T.KvMgetAnswer> =>
      this.#run(PLACES.kv_mget, input, options),
    /** Delete a key. */
    delete: (input: T.KvDeleteInput, options?: CallOptions): Promise<T.KvDeleteAnswer> =>
      this.#run(PLACES.kv_delete, input, options),
  };

  readonly state = {
    /** Load a task's saved state. */
    load: (input: T.StateLoadInput, options?: CallOptions): Promise<T.StateLoadAnswer> =>
      this.#run(PLACES.state_load, input, options),
    /** Save a task's state. */
    save: (input: T.StateSaveInput, options?: CallOptions): Promise<T.StateSaveAnswer> =>
      this.#run(PLACES.state_save, input, options),
    /** List the versions of a task's state. */
    history: (input: T.StateHistoryInput, options?: CallOptions): Promise<T.StateHistoryAnswer> =>
      this.#run(PLACES.state_history, input, options),
  };

  readonly file = {
    /** List files in byte order of their paths. */
    list: (
      input: T.FileListInput = {},
      options?: CallOptions,
    ): List<T.FilePage['items'][number], T.FilePage> =>
      new List((cursor) => this.#run(PLACES.file_list, { ...input, ...cursor }, options)),
    /** Save a file, or open or complete an upload. */
    put: (input: T.FilePutInput, options?: CallOptions): Promise<T.FilePutAnswer> =>
      this.#run(PLACES.file_put, input, options),
    /** Delete a file and end its links. */
    delete: (input: T.FileDeleteInput, options?: CallOptions): Promise<T.FileDeleteAnswer> =>
      this.#run(PLACES.file_delete, input, options),
    /** Create a public download link. */
    url: (input: T.FileUrlInput, options?: CallOptions): Promise<T.FileUrlAnswer> =>
      this.#run(PLACES.file_url, input, options),
  };

  readonly email = {
    /** Send an email from the project's address. */
    send: (input: T.EmailSendInput, options?: CallOptions): Promise<T.EmailSendAnswer> =>
      this.#run(PLACES.email_send, input, options),
    /** Check the messages of one email_send call. */
    status: (input: T.EmailStatusInput, options?: CallOptions): Promise<T.EmailStatusAnswer> =>
      this.#run(PLACES.email_status, input, options),
  };

  readonly ledger = {
    /** Read the ledger, newest first. */
    query: (
      input: T.LedgerQueryInput = {},
      options?: CallOptions,
    ): List<T.LedgerEntryPage['items'][number], T.LedgerEntryPage> =>
      new List((cursor) => this.#run(PLACES.ledger_query, { ...input, ...cursor }, options)),
    /** Recompute the hash chain of the ledger. */
    verify: (
      input: T.LedgerVerifyInput = {},
      options?: CallOptions,
    ): Promise<T.LedgerVerifyAnswer> => this.#run(PLACES.ledger_verify, input, options),
  };
}
