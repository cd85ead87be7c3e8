import { countActivity } from './activity.ts';
import { sayWhose } from './channel-person.ts';
import { claimDeliveries, claimMails, claimNotices, giveBackDeliveries } from './claims.ts';
import { eventsByHand } from './by-hand.ts';
import { claimErasure, dropPins, endErasure, pinBlob } from './blob-pins.ts';
import { addBrowser, countPushTest, preparePush, recordPushes, removeBrowser } from './browsers.ts';
import { delivery } from './delivery.ts';
import { adminKey, endKeys, noteUse } from './keys.ts';
import { learnSecret } from './learn-secret.ts';
import { mailDelivery, mailReports } from './mail-delivery.ts';
import { endFileLink } from './file-links.ts';
import { forgetMails, handMail, recordMail } from './mails.ts';
import { acceptInvitation, dropInvitations } from './members.ts';
import { oauthConsent, oauthExchange, oauthRefresh, oauthRevoke } from './oauth.ts';
import { operation } from './operation.ts';
import {
  confirmChannel,
  decide,
  dropChannelLinks,
  expireRequests,
  recordNotifications,
  setOwner,
} from './notifications.ts';
import { endLasting } from './lasting.ts';
import { admitNotice, muteKey } from './notice-budget.ts';
import { dropDeliveries, recordAttempts, releaseRoutes } from './push.ts';
import { foundProject, signInKey } from './sign-in.ts';
import { setSendBlock } from './send-block.ts';
import { diskLimited } from './source-limit.ts';
import { refundTransfer, reserveTransfer } from './transfers.ts';
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
} from './maintenance.ts';
import { uploadReceived } from './uploads.ts';

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
