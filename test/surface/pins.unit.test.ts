import { describe, expect, it } from 'vitest';
import { toolList } from '../../shared/api/mcp/tools.ts';
import { operations } from '../../shared/operations/index.ts';
import { SCOPES } from '../../shared/lib/scopes.ts';

// Literals on purpose: agents rely on these, and changing them should take two hands. What else callers see of an operation
// stands in its file in `operations/`.

/** Every tool of the specification, in the order of its route table. */
const SPECIFIED =
  'whoami session_hello source_list source_add source_remove inbox_list inbox_wait inbox_claim inbox_ack inbox_nack ' +
  'ask_approval ask_human request_status channel_list channel_add channel_remove policy_get policy_set kv_list kv_get ' +
  'kv_set kv_delete state_load state_save file_list file_get file_put file_delete file_url email_send ledger_query ' +
  'ledger_verify';

/** Tools beyond those of the specification. */
const MORE = ['inbox_get', 'inbox_extend', 'inbox_requeue', 'request_withdraw', 'email_status'];

describe('the tools', () => {
  it('are all 32 of the specification in their order, and some more', () => {
    const specified = SPECIFIED.split(' ');
    expect(specified).toHaveLength(32);
    const names = operations.filter(({ mcp }) => mcp !== false).map(({ name }) => name);
    expect(names.filter((name) => !MORE.includes(name))).toEqual(specified);
    expect(names).toHaveLength(specified.length + MORE.length);
    expect(toolList(operations, SCOPES).map(({ name }) => name)).toEqual(names);
  });
});
