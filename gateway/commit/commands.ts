import { countActivity } from './commands/inbox/activity.ts';
import { sayWhose } from './commands/people/channel-person.ts';
import {
  claimDeliveries,
  claimMails,
  claimNotices,
  giveBackDeliveries,
} from './commands/inbox/claims.ts';
import { eventsByHand } from './commands/by-hand.ts';
import { claimErasure, dropPins, endErasure, pinBlob } from './commands/disk/blob-pins.ts';
import {
  addBrowser,
  countPushTest,
  preparePush,
  recordPushes,
  removeBrowser,
} from './commands/access/browsers.ts';
import { delivery } from './commands/inbox/delivery.ts';
import { adminKey, endKeys, noteUse } from './commands/access/keys.ts';
import { learnSecret } from './commands/inbox/learn-secret.ts';
import { mailDelivery, mailReports } from './commands/mail/mail-delivery.ts';
import { endFileLink } from './commands/disk/file-links.ts';
import { forgetMails, handMail, recordMail } from './commands/mail/mails.ts';
import { acceptInvitation, dropInvitations } from './commands/access/members.ts';
import { oauthConsent, oauthExchange, oauthRefresh, oauthRevoke } from './commands/access/oauth.ts';
import { operation } from './commands/operation.ts';
import { confirmChannel, dropChannelLinks } from './commands/people/channels.ts';
import { decide } from './commands/people/decide.ts';
import { expireRequests } from './commands/people/expiry.ts';
import { recordNotifications } from './commands/people/notifications.ts';
import { setOwner } from './commands/people/owner.ts';
import { endLasting } from './commands/people/lasting.ts';
import { admitNotice, muteKey } from './commands/people/notice-budget.ts';
import { dropDeliveries, recordAttempts, releaseRoutes } from './commands/inbox/push.ts';
import { foundProject, signInKey } from './commands/access/sign-in.ts';
import { setSendBlock } from './commands/mail/send-block.ts';
import { diskLimited } from './commands/inbox/source-limit.ts';
import { refundTransfer, reserveTransfer } from './commands/disk/transfers.ts';
import {
  addSums,
  dropKeys,
  dropLinks,
  dropPreviousSecrets,
  dropStateVersions,
  dropUploads,
  forgetAnswers,
  moveOverdue,
  purgePayloads,
} from './commands/maintenance.ts';
import { uploadReceived } from './commands/disk/uploads.ts';

/** Every command that writes to a project, by name. */
export const commands = {
  acceptInvitation,
  addBrowser,
  addSums,
  adminKey,
  admitNotice,
  claimDeliveries,
  claimMails,
  claimNotices,
  claimErasure,
  confirmChannel,
  countActivity,
  countPushTest,
  decide,
  delivery,
  diskLimited,
  dropChannelLinks,
  dropDeliveries,
  dropInvitations,
  dropKeys,
  dropLinks,
  dropPins,
  dropPreviousSecrets,
  dropStateVersions,
  dropUploads,
  endErasure,
  endFileLink,
  eventsByHand,
  expireRequests,
  forgetAnswers,
  forgetMails,
  foundProject,
  giveBackDeliveries,
  handMail,
  learnSecret,
  mailDelivery,
  mailReports,
  moveOverdue,
  endLasting,
  muteKey,
  noteUse,
  endKeys,
  oauthConsent,
  oauthExchange,
  oauthRefresh,
  oauthRevoke,
  operation,
  pinBlob,
  preparePush,
  purgePayloads,
  recordAttempts,
  recordNotifications,
  recordMail,
  recordPushes,
  refundTransfer,
  releaseRoutes,
  removeBrowser,
  reserveTransfer,
  sayWhose,
  setOwner,
  setSendBlock,
  signInKey,
  uploadReceived,
};

type Commands = typeof commands;

export type CommandName = keyof Commands;
export type InputOf<N extends CommandName> = Parameters<Commands[N]['run']>[1];
export type OutputOf<N extends CommandName> = Awaited<ReturnType<Commands[N]['run']>>;
