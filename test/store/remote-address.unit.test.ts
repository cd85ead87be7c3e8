import { describe, expect, it } from 'vitest';
import { clientAddress } from '../../shared/store/remote/address.ts';

describe('the address of a database on a server', () => {
  it.each([
    ['https://db.example', 'https://db.example/'],
    ['https://db.example:8443/prj-1', 'https://db.example:8443/prj-1/'],
    ['libsql://prj-1.db.example', 'https://prj-1.db.example/'],
    ['libsql://prj-1.db.example/?tls=1', 'https://prj-1.db.example/'],
    ['libsql://127.0.0.1:8080?tls=0', 'http://127.0.0.1:8080/'],
    ['http://127.0.0.1:8080/a/b/', 'http://127.0.0.1:8080/a/b/'],
  ])('%s is %s to the client', (given, meant) => {
    expect(clientAddress(given)).toBe(meant);
  });

  it.each([
    ['db.example', 'is no URL'],
    ['file:/tmp/secret.db', 'must begin with libsql:'],
    ['wss://db.example/secret', 'must begin with libsql:'],
    ['https://db.example/secret?tls=0', 'must begin with libsql:'],
    ['https://svc:secret@db.example', 'give the token as SVC_DATABASE_TOKEN'],
    ['https://db.example?authToken=secret', 'no parameter but tls=0'],
    ['https://db.example#secret', 'no parameter but tls=0'],
  ])('%s is refused, and not repeated', (given, problem) => {
    const refusal = expect.objectContaining({ message: expect.stringContaining(problem) });
    expect(() => clientAddress(given)).toThrow(refusal);
    expect(() => clientAddress(given)).toThrow(/^SVC_DATABASE_URL (?!.*secret)/);
  });
});
