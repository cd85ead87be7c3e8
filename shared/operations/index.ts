import type { Operation } from '../kernel/operation.ts';
import { askApproval } from './ask/approval.ts';
import { askHuman } from './ask/human.ts';
import { channelAdd } from './channel/add.ts';
import { channelList } from './channel/list.ts';
import { channelRemove } from './channel/remove.ts';
import { emailSend } from './email/send.ts';
import { emailStatus } from './email/status.ts';
import { fileDelete } from './file/delete.ts';
import { fileGet } from './file/get.ts';
import { fileList } from './file/list.ts';
import { filePut } from './file/put.ts';
import { fileUrl } from './file/url.ts';
import { inboxAck } from './inbox/ack.ts';
import { inboxClaim } from './inbox/claim.ts';
import { inboxExtend } from './inbox/extend.ts';
import { inboxGet } from './inbox/get.ts';
import { inboxLink } from './inbox/link.ts';
import { inboxList } from './inbox/list.ts';
import { inboxNack } from './inbox/nack.ts';
import { inboxNext } from './inbox/next.ts';
import { inboxReplay } from './inbox/replay.ts';
import { inboxRequeue } from './inbox/requeue.ts';
import { inboxWait } from './inbox/wait.ts';
import { keyCreate } from './key/create.ts';
import { keyGet } from './key/get.ts';
import { keyList } from './key/list.ts';
import { keyRevoke } from './key/revoke.ts';
import { keyRotate } from './key/rotate.ts';
import { kvDelete } from './kv/delete.ts';
import { kvGet } from './kv/get.ts';
import { kvList } from './kv/list.ts';
import { kvIncr } from './kv/incr.ts';
import { kvMget } from './kv/mget.ts';
import { kvSet } from './kv/set.ts';
import { kvTouch } from './kv/touch.ts';
import { ledgerQuery } from './ledger/query.ts';
import { ledgerVerify } from './ledger/verify.ts';
import { memberInvite } from './member/invite.ts';
import { memberList } from './member/list.ts';
import { memberRemove } from './member/remove.ts';
import { memberRole } from './member/role.ts';
import { projectDelete } from './project/delete.ts';
import { projectRename } from './project/rename.ts';
import { policyDiff } from './policy/diff.ts';
import { policyGet } from './policy/get.ts';
import { policySet } from './policy/set.ts';
import { policySuggest } from './policy/suggest.ts';
import { policyTest } from './policy/test.ts';
import { requestCallbackSecret } from './request/callback-secret.ts';
import { requestList } from './request/list.ts';
import { requestReceived } from './request/received.ts';
import { requestStatus } from './request/status.ts';
import { requestUse } from './request/use.ts';
import { requestWithdraw } from './request/withdraw.ts';
import { routeAdd } from './route/add.ts';
import { routeAttempts } from './route/attempts.ts';
import { routeDisable } from './route/disable.ts';
import { routeEnable } from './route/enable.ts';
import { routeList } from './route/list.ts';
import { routeRemove } from './route/remove.ts';
import { routeRetry } from './route/retry.ts';
import { routeTest } from './route/test.ts';
import { sessionHello } from './session/hello.ts';
import { sourceAdd } from './source/add.ts';
import { sourceGet } from './source/get.ts';
import { sourceList } from './source/list.ts';
import { sourceRemove } from './source/remove.ts';
import { sourceRotate } from './source/rotate.ts';
import { sourceSign } from './source/sign.ts';
import { stateHistory } from './state/history.ts';
import { stateLoad } from './state/load.ts';
import { stateSave } from './state/save.ts';
import { story } from './story.ts';
import { usage } from './usage.ts';
import { whoami } from './whoami.ts';

/** Every operation, in the order of the route table (spec section 4.1); later additions follow their group. */
export const operations: readonly Operation[] = [
  whoami,
  sessionHello,
  keyList,
  keyCreate,
  keyGet,
  keyRevoke,
  keyRotate,
  sourceList,
  sourceAdd,
  sourceRemove,
  sourceGet,
  sourceRotate,
  sourceSign,
  inboxList,
  inboxWait,
  inboxGet,
  inboxLink,
  inboxClaim,
  inboxAck,
  inboxNack,
  inboxExtend,
  inboxRequeue,
  inboxReplay,
  inboxNext,
  routeList,
  routeAdd,
  routeRemove,
  routeDisable,
  routeEnable,
  routeAttempts,
  routeRetry,
  routeTest,
  askApproval,
  askHuman,
  requestStatus,
  requestList,
  requestReceived,
  requestWithdraw,
  requestUse,
  requestCallbackSecret,
  channelList,
  channelAdd,
  channelRemove,
  memberList,
  memberInvite,
  memberRole,
  memberRemove,
  projectRename,
  projectDelete,
  policyGet,
  policySet,
  policyTest,
  policyDiff,
  policySuggest,
  kvList,
  kvGet,
  kvSet,
  kvIncr,
  kvTouch,
  kvMget,
  kvDelete,
  stateLoad,
  stateSave,
  stateHistory,
  fileList,
  fileGet,
  filePut,
  fileDelete,
  fileUrl,
  emailSend,
  emailStatus,
  usage,
  story,
  ledgerQuery,
  ledgerVerify,
];
