import { delivery } from './delivery.ts';
import { adminKey, noteUse } from './keys.ts';
import { operation } from './operation.ts';
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
  delivery,
  dropKeys,
  dropLinks,
  dropUploads,
  forgetAnswers,
  moveOverdue,
  noteUse,
  operation,
  purgePayloads,
  refundTransfer,
  reserveTransfer,
  uploadReceived,
};

type Procedures = typeof procedures;

export type ProcedureName = keyof Procedures;
export type InputOf<N extends ProcedureName> = Parameters<Procedures[N]['run']>[1];
export type OutputOf<N extends ProcedureName> = Awaited<ReturnType<Procedures[N]['run']>>;
