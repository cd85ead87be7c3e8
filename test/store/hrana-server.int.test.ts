import { describe, expect, it } from 'vitest';
import { connect, MAKE, names, pipeline, put, startServer } from './hrana-world.ts';

describe('statements', () => {
  it('run, and tell what they changed', async () => {
    const client = connect(await startServer());
    await client.execute(MAKE);
    const inserted = await client.execute(put('a'));
    expect(inserted).toMatchObject({ rowsAffected: 1, lastInsertRowid: 1n });
    const returned = await client.execute("INSERT INTO item VALUES ('b', 2) RETURNING name, value");
    expect(returned.toJSON()).toMatchObject({
      columns: ['name', 'value'],
      rows: [['b', '2']],
      rowsAffected: 1,
      lastInsertRowid: '2',
    });
    expect(await names(client)).toEqual(['a', 'b']);
  });

  it('bring values back as they were', async () => {
    const client = connect(await startServer());
    await client.execute('CREATE TABLE kept (value ANY, kind TEXT) STRICT');
    const blob = new Uint8Array([0, 1, 255]);
    const values = [null, 2n ** 62n, -(2n ** 63n), -0.5, 'text 🐦', '', blob, new Uint8Array()];
    for (const value of values) await client.execute('INSERT INTO kept VALUES (?, NULL)', [value]);
    const { rows } = await client.execute('SELECT value FROM kept ORDER BY rowid');
    const found = rows.map(({ value }) =>
      value instanceof ArrayBuffer ? new Uint8Array(value) : value,
    );
    expect(found).toEqual(values);
  });

  it('keep a number of the client as a float, whole or not, and a bigint as an integer', async () => {
    const client = connect(await startServer());
    const { rows } = await client.execute('SELECT typeof(?), typeof(?), typeof(?), ? - ?', [
      5,
      5n,
      -0.5,
      3,
      -2,
    ]);
    expect(Object.values(rows[0] ?? {})).toEqual(['real', 'integer', 'real', 5]);
  });

  it('take values by name', async () => {
    const client = connect(await startServer());
    const sql = "SELECT :a || @b || :a || ':a' AS text";
    const { rows } = await client.execute({ sql, args: { a: 'x', b: 'y' } });
    expect(rows[0]?.['text']).toBe('xyx:a');
  });

  it.each([
    ['SELECT nothing', [], 'SQL_INPUT_ERROR'],
    ['', [], 'SQL_NO_STATEMENT'],
    ['SELECT 1; SELECT 2', [], 'SQL_MANY_STATEMENTS'],
    ['SELECT ?', [], 'ARGS_INVALID'],
    ['SELECT ?', ['a', 'b'], 'ARGS_INVALID'],
    ['SELECT ?', ['a\0b'], 'ARGS_INVALID'],
    ["INSERT INTO item (name) VALUES ('a')", [], 'SQLITE_CONSTRAINT'],
    ["SELECT json('{')", [], 'SQLITE_UNKNOWN'],
  ])('fail: %s', async (sql, args, code) => {
    const client = connect(await startServer());
    await client.batch([MAKE, put('a')]);
    await expect(client.execute(sql, args)).rejects.toMatchObject({ code });
    expect(await names(client)).toEqual(['a']);
  });
});

describe('transactions', () => {
  it('are committed and rolled back', async () => {
    const server = await startServer();
    const client = connect(server);
    await client.execute(MAKE);
    server.resetCounters();
    const kept = await client.transaction('write');
    await kept.execute(put('kept'));
    await kept.commit();
    const undone = await client.transaction('write');
    await undone.execute(put('undone'));
    expect(await names(client)).toEqual(['kept']);
    await undone.rollback();
    expect(await names(client)).toEqual(['kept']);
    expect(server.counters('test')).toEqual({ requests: 6, statements: 8, transactions: 2 });
  });

  it('wait for the one that writes, in order', async () => {
    const client = connect(await startServer());
    await client.execute(MAKE);
    const first = await client.transaction('write');
    await first.execute(put('a'));
    const order: string[] = [];
    const others = ['b', 'c'].map(async (name) => {
      const other = await client.transaction('write');
      await other.execute(put(name));
      order.push(name);
      await other.commit();
    });
    const read = await client.transaction('read');
    expect((await read.execute('SELECT count(*) AS n FROM item')).rows[0]?.['n']).toBe(0n);
    await read.commit();
    expect(order).toEqual([]);
    await first.commit();
    await Promise.all(others);
    expect(order).toEqual(['b', 'c']);
    expect(await names(client)).toEqual(['a', 'b', 'c']);
  });

  it('that hold the lock for too long are rolled back for one that waits', async () => {
    const client = connect(await startServer({ transactionMaxMs: 100 }));
    await client.execute(MAKE);
    const slow = await client.transaction('write');
    await slow.execute(put('slow'));
    await client.execute(put('waited'));
    await expect(slow.execute(put('late'))).rejects.toMatchObject({ code: 'TRANSACTION_TIMEOUT' });
    await expect(slow.commit()).rejects.toThrow('no transaction is active');
    expect(await names(client)).toEqual(['waited']);
  });

  it('that read first cannot write over what came between', async () => {
    const client = connect(await startServer({ transactionMaxMs: 60_000 }));
    await client.execute(MAKE);
    const stale = await client.transaction('deferred');
    await stale.execute('SELECT * FROM item');
    await client.execute(put('between'));
    await expect(stale.execute(put('stale'))).rejects.toMatchObject({ code: 'SQLITE_BUSY' });
    await client.execute(put('after'));
    await stale.rollback();
    expect(await names(client)).toEqual(['after', 'between']);
  });

  it('go on after a statement that failed, and keep the lock', async () => {
    const client = connect(await startServer());
    await client.batch([MAKE, put('a')]);
    const going = await client.transaction('deferred');
    await expect(going.execute(put('a'))).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT' });
    const waiting = client.execute(put('d'));
    await going.execute(put('c'));
    expect(await names(client)).toEqual(['a']);
    await going.commit();
    await waiting;
    expect(await names(client)).toEqual(['a', 'c', 'd']);
  });
});

const step = (sql: string, condition?: unknown) => ({ stmt: { sql }, condition });

describe('batches', () => {
  it('are all or nothing', async () => {
    const client = connect(await startServer());
    await client.execute(MAKE);
    await client.batch([put('a'), put('b')], 'write');
    const failed = client.batch([put('c'), put('a'), put('d')], 'write');
    await expect(failed).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT', statementIndex: 1 });
    expect(await names(client)).toEqual(['a', 'b']);
  });

  it('run a step when its condition holds', async () => {
    const server = await startServer();
    const ok = { type: 'ok', step: 0 };
    const error = { type: 'error', step: 1 };
    const steps = [
      step('SELECT 0'),
      step('SELECT nothing', ok),
      step('SELECT 2', error),
      step('SELECT 3', { type: 'not', cond: error }),
      step('SELECT 4', { type: 'and', conds: [ok, error] }),
      step('SELECT 5', {
        type: 'or',
        conds: [
          { type: 'ok', step: 1 },
          { type: 'not', cond: ok },
        ],
      }),
      step('SELECT 6', { type: 'ok', step: 3 }),
      step('SELECT 7', { type: 'error', step: 3 }),
      step('BEGIN', { type: 'is_autocommit' }),
      step('SELECT 9', { type: 'is_autocommit' }),
    ];
    const url = server.urlOf('test');
    const { text } = await pipeline(url, [{ type: 'batch', batch: { steps } }]);
    const { step_results: results, step_errors: errors } = JSON.parse(text).results[0].response
      .result as Record<'step_results' | 'step_errors', unknown[]>;
    const outcomes = steps.map((_, at) => (results[at] ? 'ok' : errors[at] ? 'error' : 'skipped'));
    expect(outcomes.join(' ')).toBe('ok error ok skipped ok skipped skipped skipped ok skipped');
  });

  it('run a script, triggers and all, up to its first error', async () => {
    const client = connect(await startServer());
    await client.executeMultiple(
      `${MAKE}; CREATE TRIGGER twice AFTER INSERT ON item WHEN new.value IS NULL BEGIN
         SELECT CASE WHEN 1 THEN 2 END;
         INSERT INTO item VALUES (new.name || ';', 1);
       END; -- done;
       INSERT INTO item (name) VALUES ('a');`,
    );
    const failing = client.executeMultiple(
      "DELETE FROM item; SELECT nothing; INSERT INTO item (name) VALUES ('b')",
    );
    await expect(failing).rejects.toMatchObject({ code: 'SQL_INPUT_ERROR' });
    expect(await names(client)).toEqual([]);
  });
});

describe('streams', () => {
  const begin = { type: 'execute', stmt: { sql: 'BEGIN IMMEDIATE' } };

  it('are gone when they were not used for long, with what was not committed', async () => {
    const server = await startServer();
    const client = connect(server);
    await client.execute(MAKE);
    const left = await client.transaction('write');
    await left.execute(put('left'));
    server.expireStreams();
    await expect(left.commit()).rejects.toMatchObject({ code: 'STREAM_EXPIRED' });
    await client.execute(put('next'));
    expect(await names(client)).toEqual(['next']);
  });

  it('expire by themselves', async () => {
    const url = (await startServer({ streamIdleMs: 20 })).urlOf('test');
    const { baton } = await pipeline(url, [begin]);
    await expect
      .poll(async () => (await pipeline(url, [begin])).text, { timeout: 60_000 })
      .toContain('"ok"');
    expect(await pipeline(url, [], baton)).toEqual({
      status: 400,
      type: 'application/json',
      text: '{"message":"The stream has expired due to inactivity","code":"STREAM_EXPIRED"}',
      baton: null,
    });
  });

  it('know a baton once, and only their own', async () => {
    const url = (await startServer()).urlOf('test');
    const { baton } = await pipeline(url, [begin]);
    const next = await pipeline(url, [], baton);
    expect(next.status).toBe(200);
    expect(next.baton).not.toBe(baton);
    expect(await pipeline(url, [], baton)).toMatchObject({
      status: 400,
      type: 'text/plain',
      text: 'Received a baton that has already been used',
    });
    expect(await pipeline(url, [], 'another')).toMatchObject({
      status: 400,
      text: 'Received an invalid baton',
    });
  });

  it('tell what a statement is, and whether they are in a transaction', async () => {
    const url = (await startServer()).urlOf('test');
    const { text } = await pipeline(url, [
      { type: 'get_autocommit' },
      { type: 'store_sql', sql_id: 1, sql: 'SELECT 1 AS one, ?2, :a' },
      { type: 'describe', sql_id: 1 },
      begin,
      { type: 'get_autocommit' },
      { type: 'close' },
    ]);
    const { baton, results } = JSON.parse(text);
    expect(baton).toBeNull();
    expect(results.map(({ response }: { response: unknown }) => response)).toMatchObject([
      { is_autocommit: true },
      { type: 'store_sql' },
      {
        result: {
          params: [{ name: null }, { name: '?2' }, { name: ':a' }],
          cols: [{ name: 'one', decltype: null }, {}, {}],
          is_explain: false,
          is_readonly: true,
        },
      },
      { type: 'execute' },
      { is_autocommit: false },
      { type: 'close' },
    ]);
  });
});
