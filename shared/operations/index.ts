import type { Operation } from '../operation.ts';
import { fileDelete } from './file/delete.ts';
import { fileGet } from './file/get.ts';
import { fileList } from './file/list.ts';
import { filePut } from './file/put.ts';
import { fileUrl } from './file/url.ts';
import { inboxAck } from './inbox/ack.ts';
import { inboxClaim } from './inbox/claim.ts';
import { inboxExtend } from './inbox/extend.ts';
import { inboxList } from './inbox/list.ts';
import { inboxNack } from './inbox/nack.ts';
import { inboxRequeue } from './inbox/requeue.ts';
import { inboxWait } from './inbox/wait.ts';
import { kvDelete } from './kv/delete.ts';
import { kvGet } from './kv/get.ts';
import { kvList } from './kv/list.ts';
import { kvSet } from './kv/set.ts';
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
import { stateLoad } from './state/load.ts';
import { stateSave } from './state/save.ts';
import { usage } from './usage.ts';
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
  kvList,
  kvGet,
  kvSet,
  kvDelete,
  stateLoad,
  stateSave,
  fileList,
  fileGet,
  filePut,
  fileDelete,
  fileUrl,
  usage,
  ledgerQuery,
  ledgerVerify,
];
