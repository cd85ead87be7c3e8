import type { BlobStore, ReadContext, Vault } from '../../shared/kernel/context.ts';

// What only the gateway has. No operation that a replica answers comes here; one that did would fail and be told.

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
