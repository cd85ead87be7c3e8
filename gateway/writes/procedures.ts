import { delivery } from './delivery.ts';
import { adminKey, noteUse } from './keys.ts';
import { mailDelivery, mailReports } from './mail-delivery.ts';
import { forgetMails, handMail, recordMail } from './mails.ts';
import { operation } from './operation.ts';
import {
  confirmChannel,
  decide,
  dropChannelLinks,
  expireRequests,
  recordLetters,
  setOwner,
} from './people.ts';
import { dropDeliveries, recordAttempts, releaseRoutes } from './push.ts';
import { foundProject, signInKey } from './sign-in.ts';
import { setStanding } from './standing.ts';
import { refundTransfer, reserveTransfer } from './transfers.ts';
import {
  dropKeys,
  dropLinks,
  dropUploads,
  forgetAnswers,
  moveOverdue,
  purgePayloads,
} from './upkeep.ts';
import { uploadReceived } from './uploads.ts';

/** Everything that may be done to a project, by name. */
export const procedures = {
  adminKey,
  confirmChannel,
  decide,
  delivery,
  dropChannelLinks,
  dropDeliveries,
  dropKeys,
  dropLinks,
  dropUploads,
  expireRequests,
  forgetAnswers,
  forgetMails,
  foundProject,
  handMail,
  mailDelivery,
  mailReports,
  moveOverdue,
  noteUse,
  operation,
  purgePayloads,
  recordAttempts,
  recordLetters,
  recordMail,
  refundTransfer,
  releaseRoutes,
  reserveTransfer,
  setOwner,
  setStanding,
  signInKey,
  uploadReceived,
};

type Procedures = typeof procedures;

export type ProcedureName = keyof Procedures;
export type InputOf<N extends ProcedureName> = Parameters<Procedures[N]['run']>[1];
export type OutputOf<N extends ProcedureName> = Awaited<ReturnType<Procedures[N]['run']>>;
