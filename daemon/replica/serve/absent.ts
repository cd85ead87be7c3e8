import type { BlobStore, ReadContext, Vault } from '../../../shared/kernel/context.ts';

// Only the gateway has these. No operation with `replica: 'local'` uses them; if one did, this error says why it fails.

function absent(what: string): never {
  throw new Error(`A replica has no ${what}: this operation is for the gateway.`);
}

export const NO_VAULT: Vault = {
  seal: () => absent('vault'),
  open: () => absent('vault'),
  sign: () => absent('vault'),
};

export const NO_BLOBS: BlobStore = {
  put: () => absent('blobs'),
  putStream: () => absent('blobs'),
  read: () => absent('blobs'),
  open: () => absent('blobs'),
};

export const NO_TRANSFER: ReadContext['unspentTransfer'] = () => absent('transfer');

export const NO_REPLICA_LOG: ReadContext['replicaLog'] = () => absent('archived log');
