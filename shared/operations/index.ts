import type { Operation } from '../operation.ts';
import { inboxAck } from './inbox/ack.ts';
import { inboxClaim } from './inbox/claim.ts';
import { inboxExtend } from './inbox/extend.ts';
import { inboxList } from './inbox/list.ts';
import { inboxNack } from './inbox/nack.ts';
import { inboxRequeue } from './inbox/requeue.ts';
import { inboxWait } from './inbox/wait.ts';
import { keyCreate } from './key/create.ts';
import { keyList } from './key/list.ts';
import { keyRevoke } from './key/revoke.ts';
import { keyRotate } from './key/rotate.ts';
import { ledgerQuery } from './ledger/query.ts';
import { ledgerVerify } from './ledger/verify.ts';
import { sessionHello } from './session/hello.ts';
import { sourceAdd } from './source/add.ts';
import { sourceList } from './source/list.ts';
import { sourceRemove } from './source/remove.ts';
import { sourceSign } from './source/sign.ts';
import { whoami } from './whoami.ts';

/** Every operation, in the order of the route table (spec section 4.1), each addition after its kin. */
export const operations: readonly Operation[] = [
  whoami,
  sessionHello,
  keyList,
  keyCreate,
  keyRevoke,
  keyRotate,
  sourceList,
  sourceAdd,
  sourceRemove,
  sourceSign,
  inboxList,
  inboxWait,
  inboxClaim,
  inboxAck,
  inboxNack,
  inboxExtend,
  inboxRequeue,
  ledgerQuery,
  ledgerVerify,
];
