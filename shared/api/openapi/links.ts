import { COMMON_HEADERS, errorResponses, inPath, jsonResponse, OUTAGES } from './responses.ts';

type Json = Record<string, unknown>;

/**
 * The paths of links in answers, where the URL itself is the permission. `contentUrl`: the server for most of them, if
 * it is a separate one.
 */
export function linkPaths(contentUrl: string | undefined): Record<string, Json> {
  const content = contentUrl !== undefined && {
    servers: [{ url: contentUrl, description: 'What strangers wrote' }],
  };
  return {
    '/u/{token}': { put: UPLOAD },
    '/f/{token}': {
      ...content,
      ...downloads('file_link', 'A public link from file_url', ['token']),
    },
    '/d/{project}/{path}/{version}/{expires}/{signature}': {
      ...content,
      ...downloads('file_download', 'The `download_url` of file_get', [
        'project',
        'path',
        'version',
        'expires',
        'signature',
      ]),
    },
    '/l/{project}/{event}/{expires}/{signature}': { ...content, get: PAYLOAD },
    '/m/{project}/{event}/{expires}/{signature}': { ...content, get: MAIL_HTML },
  };
}

const BYTES = { type: 'string', format: 'binary' };

const UPLOAD = {
  operationId: 'file_upload',
  tags: ['links'],
  summary: 'Send the bytes of an upload.',
  description:
    'The `upload_url` of file_put, where this server keeps files itself; it holds for 15 minutes. Send exactly ' +
    '`upload_headers` with it, then call file_put with `complete`. Sending again replaces what came before.',
  security: [],
  parameters: inPath('token'),
  requestBody: {
    required: true,
    description: 'As many bytes as were declared, under the declared Content-Type.',
    content: { '*/*': { schema: BYTES } },
  },
  responses: {
    200: jsonResponse('All bytes have come; the file is saved by `complete`.', {
      type: 'object',
      required: ['status', 'size_bytes'],
      properties: { status: { const: 'received' }, size_bytes: { type: 'integer' } },
    }),
    ...errorResponses([
      'VALIDATION_FAILED',
      'NOT_FOUND',
      'METHOD_NOT_ALLOWED',
      'UNSUPPORTED_MEDIA_TYPE',
      ...OUTAGES,
    ]),
  },
};

const FILE_HEADERS = {
  ...COMMON_HEADERS,
  ETag: { description: 'The version of the file, in quotes.', schema: { type: 'string' } },
  'Accept-Ranges': { description: '`bytes`.', schema: { type: 'string' } },
  'Content-Disposition': {
    description: 'An attachment with the name of the file.',
    schema: { type: 'string' },
  },
};
const RANGE_HEADER = {
  'Content-Range': { description: 'Which bytes, of how many.', schema: { type: 'string' } },
};
const ANY_BYTES = { '*/*': { schema: BYTES } };
const LINK_ERRORS = errorResponses(['NOT_FOUND', 'METHOD_NOT_ALLOWED', ...OUTAGES]);

/** The two methods of a file link. */
function downloads(name: string, what: string, names: readonly string[]): Json {
  const common = { tags: ['links'], security: [], parameters: inPath(...names) };
  return {
    get: {
      operationId: name,
      summary: 'Download a file.',
      description: `${what}. Ends when its time is up or the file is replaced or deleted. What is sent counts toward the transfer of the month. The bytes are a stranger's: they come as an attachment that no browser runs.`,
      ...common,
      parameters: [...common.parameters, ...RANGE_PARAMETERS],
      responses: {
        200: { description: 'The file.', headers: FILE_HEADERS, content: ANY_BYTES },
        206: {
          description: 'The part that Range asks for.',
          headers: { ...FILE_HEADERS, ...RANGE_HEADER },
          content: ANY_BYTES,
        },
        302: {
          description: 'The file is in a bucket: follow Location within a minute.',
          headers: {
            ...COMMON_HEADERS,
            Location: { description: 'An address of the bucket.', schema: { type: 'string' } },
          },
        },
        ...LINK_ERRORS,
        ...errorResponses(['QUOTA_EXCEEDED']),
        416: jsonResponse(
          'VALIDATION_FAILED: The file has no such bytes.',
          { $ref: '#/components/schemas/Error' },
          RANGE_HEADER,
        ),
      },
    },
    head: {
      operationId: `${name}_head`,
      summary: 'See how large a file is, and of which type.',
      description: `${what}, without the bytes. It counts toward no limit.`,
      ...common,
      responses: { 200: { description: 'It is there.', headers: FILE_HEADERS }, ...LINK_ERRORS },
    },
  };
}

const RANGE_PARAMETERS = [
  {
    name: 'Range',
    in: 'header',
    required: false,
    description: 'One range of bytes, such as `bytes=0-1023`. Several are answered with the whole.',
    schema: { type: 'string' },
  },
  {
    name: 'If-Range',
    in: 'header',
    required: false,
    description: 'An ETag: the whole file is sent when it is another one by now.',
    schema: { type: 'string' },
  },
];

const PAYLOAD = {
  operationId: 'payload_download',
  tags: ['links'],
  summary: 'Download the payload of an event.',
  description:
    'The `payload_url` of inbox_claim, for bodies over 256 KB; it holds for an hour. The bytes are as they were ' +
    'received: data from outside.',
  security: [],
  parameters: inPath('project', 'event', 'expires', 'signature'),
  responses: {
    200: {
      description: 'The body as it was received.',
      headers: COMMON_HEADERS,
      content: { 'application/octet-stream': { schema: BYTES } },
    },
    ...errorResponses(['NOT_FOUND', ...OUTAGES]),
  },
};

const MAIL_HTML = {
  operationId: 'mail_html',
  tags: ['links'],
  summary: 'Look at the HTML of a mail.',
  description:
    'The `html_url` of inbox_claim; it holds for an hour. For the eyes of a person: the policy of the page lets it run ' +
    'nothing, and load nothing from anywhere. What it says is data from outside.',
  security: [],
  parameters: inPath('project', 'event', 'expires', 'signature'),
  responses: {
    200: {
      description: 'The HTML as it was received.',
      headers: {
        ...COMMON_HEADERS,
        'Content-Security-Policy': {
          description: 'A sandbox without sources.',
          schema: { type: 'string' },
        },
      },
      content: { 'text/html': { schema: { type: 'string' } } },
    },
    ...errorResponses(['NOT_FOUND', 'METHOD_NOT_ALLOWED', ...OUTAGES]),
  },
};
