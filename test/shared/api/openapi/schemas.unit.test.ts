import { describe, expect, it } from 'vitest';
import { atOnce } from '../../../../cli/shapes/at-once.ts';
import { openApiDocument } from '../../../../shared/api/openapi/document.ts';
import { Schemas } from '../../../../shared/api/openapi/schemas.ts';
import type { Operation } from '../../../../shared/kernel/operation.ts';
import { operations } from '../../../../shared/operations/index.ts';
import { rawOperations } from '../raw-fixture.ts';
import { fixtureOperations } from '../rest/fixture.ts';

const server = {
  version: '1.2.3',
  urls: { api: 'https://api.test', mcp: 'https://mcp.test/mcp', hooks: 'https://hooks.test' },
};

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

function documentOf(list: readonly Operation[]): Document {
  return atOnce(openApiDocument(list, server)) as unknown as Document;
}

const NAMES =
  'ApiError ErrorCode Event ClaimedEvent EventPage Request RequestPage Source Route Channel Key KvEntry TaskState File LedgerEntry Policy PolicyDocument EmailSendAnswer InboxAckInput InboxAckAnswer';

describe('the named schemas of the OpenAPI document', () => {
  it.each([
    ['the product', operations],
    ['the fixture', fixtureOperations],
    ['raw bodies', rawOperations],
  ])('are all used, and no other is referred to: %s', (_title, list) => {
    const document = documentOf(list);
    const found = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g);
    const targets = new Set([...found].map(([, name]) => name));
    expect(targets).toEqual(new Set(Object.keys(document.components.schemas)));
  });

  it('give each type that callers send or get one name', () => {
    const { schemas } = documentOf(operations).components;
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(NAMES.split(' ')));
    expect(schemas['EventPage']).toMatchObject({
      properties: { items: { items: { $ref: '#/components/schemas/Event' } } },
    });
    expect(schemas['ApiError']).toMatchObject({
      properties: { error: { properties: { code: { $ref: '#/components/schemas/ErrorCode' } } } },
    });
  });

  it('give the answers of a sign-in names', () => {
    const document = atOnce(
      openApiDocument(operations, server, { signIn: true }),
    ) as unknown as Document;
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining([
        'AuthStartAnswer',
        'AuthPollAnswer',
        'AuthKeyCreateAnswer',
        'ProjectCreateAnswer',
      ]),
    );
  });

  it('refuse two types under one name', () => {
    const schemas = new Schemas();
    schemas.add('One', { type: 'string' });
    schemas.add('One', { type: 'string' });
    expect(() => schemas.add('One', { type: 'number' })).toThrow('Two schemas have the name One.');
  });
});
