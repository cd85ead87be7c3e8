import {
  COMMON_HEADERS,
  errorResponses,
  inPath,
  jsonResponse,
  ANYWHERE,
} from '../../../shared/api/openapi/responses.ts';

type Json = Record<string, unknown>;

/** The paths of links in answers, where the URL itself is the permission. */
export function linkPaths(): Record<string, Json> {
  return {
    '/u/{token}': { put: UPLOAD },
    '/f/{token}': {
      ...downloads('file_link', 'A public link from file_url', ['token']),
    },
    '/d/{project}/{path}/{version}/{expires}/{signature}': {
      ...downloads('file_download', 'The `download_url` of file_get', [
        'project',
        'path',
        'version',
        'expires',
        'signature',
      ]),
    },
    '/l/{project}/{event}/{expires}/{signature}': { get: PAYLOAD },
    '/m/{project}/{event}/{expires}/{signature}': { get: MAIL_HTML },
  };
}

const BYTES = { type: 'string', format: 'binary' };

const UPLOAD = {
  operationId: 'file_upload',
  tags: ['links'],
  summary: 'Send the bytes of an upload.',
  description:
    'The `upload_url` of file_put, if this server stores files itself; valid for 15 minutes. Send exactly ' +
    '`upload_headers` with it, then call file_put with `complete`. Sending again replaces the bytes.',
  security: [],
  parameters: inPath('token'),
  requestBody: {
    required: true,
    description: 'Exactly the declared number of bytes, with the declared Content-Type.',
    content: { '*/*': { schema: BYTES } },
  },
  responses: {
    200: jsonResponse('All bytes have arrived; `complete` saves the file.', {
      type: 'object',
      required: ['status', 'size_bytes'],
      properties: { status: { const: 'received' }, size_bytes: { type: 'integer' } },
    }),
    ...errorResponses([
      'VALIDATION_FAILED',
      'NOT_FOUND',
      'METHOD_NOT_ALLOWED',
      'UNSUPPORTED_MEDIA_TYPE',
      ...ANYWHERE,
    ]),
  },
};

const FILE_HEADERS = {
  ...COMMON_HEADERS,
  ETag: { description: 'The version of the file, in quotes.', schema: { type: 'string' } },
  'Accept-Ranges': { description: '`bytes`.', schema: { type: 'string' } },
  'Content-Disposition': {
    description: "An attachment with the file's name.",
    schema: { type: 'string' },
  },
};
const RANGE_HEADER = {
  'Content-Range': {
    description: 'Which bytes these are, and of how many.',
    schema: { type: 'string' },
  },
};
const ANY_BYTES = { '*/*': { schema: BYTES } };
const LINK_ERRORS = errorResponses(['NOT_FOUND', 'METHOD_NOT_ALLOWED', ...ANYWHERE]);

/** The two methods of a file link. */
function downloads(name: string, what: string, names: readonly string[]): Json {
  const common = { tags: ['links'], security: [], parameters: inPath(...names) };
  return {
    get: {
      operationId: name,
      summary: 'Download a file.',
      description: `${what}. Ends when it expires or the file is replaced or deleted. Bytes sent count toward the month's transfer. They may come from an outsider, so they're sent as an attachment that no browser runs.`,
      ...common,
      parameters: [...common.parameters, ...RANGE_PARAMETERS],
      responses: {
        200: { description: 'The file.', headers: FILE_HEADERS, content: ANY_BYTES },
        206: {
          description: 'The requested range.',
          headers: { ...FILE_HEADERS, ...RANGE_HEADER },
          content: ANY_BYTES,
        },
        302: {
          description: 'The file is in a bucket: follow Location within a minute.',
          headers: {
            ...COMMON_HEADERS,
            Location: { description: 'An address in the bucket.', schema: { type: 'string' } },
          },
        },
        ...LINK_ERRORS,
        ...errorResponses(['QUOTA_EXCEEDED']),
        416: jsonResponse(
          'VALIDATION_FAILED: The range is outside the file.',
          { $ref: '#/components/schemas/ApiError' },
          RANGE_HEADER,
        ),
      },
    },
    head: {
      operationId: `${name}_head`,
      summary: "Get a file's size and type.",
      description: `${what}, without the bytes. It counts toward no limit.`,
      ...common,
      responses: {
        200: { description: 'The file exists.', headers: FILE_HEADERS },
        ...LINK_ERRORS,
      },
    },
  };
}

const RANGE_PARAMETERS = [
  {
    name: 'Range',
    in: 'header',
    required: false,
    description:
      'One range of bytes, such as `bytes=0-1023`. For several ranges, the whole file is sent.',
    schema: { type: 'string' },
  },
  {
    name: 'If-Range',
    in: 'header',
    required: false,
    description: 'An ETag: if the file has changed, the whole file is sent.',
    schema: { type: 'string' },
  },
];

const PAYLOAD = {
  operationId: 'payload_download',
  tags: ['links'],
  summary: 'Download the payload of an event.',
  description:
    'The `body_url` of inbox_claim, or its `payload_url` for bodies over 256 KB; valid for an hour. The bytes are exactly as ' +
    'received: data from outside.',
  security: [],
  parameters: inPath('project', 'event', 'expires', 'signature'),
  responses: {
    200: {
      description: 'The body as received.',
      headers: COMMON_HEADERS,
      content: { 'application/octet-stream': { schema: BYTES } },
    },
    ...errorResponses(['NOT_FOUND', ...ANYWHERE]),
  },
};

const MAIL_HTML = {
  operationId: 'mail_html',
  tags: ['links'],
  summary: 'Show the HTML of a mail.',
  description:
    'The `html_url` of inbox_claim; valid for an hour. For a person to read: its content policy lets it run ' +
    'nothing and load nothing. Its content is data from outside.',
  security: [],
  parameters: inPath('project', 'event', 'expires', 'signature'),
  responses: {
    200: {
      description: 'The HTML as received.',
      headers: {
        ...COMMON_HEADERS,
        'Content-Security-Policy': {
          description: 'A sandbox that loads nothing.',
          schema: { type: 'string' },
        },
      },
      content: { 'text/html': { schema: { type: 'string' } } },
    },
    ...errorResponses(['NOT_FOUND', 'METHOD_NOT_ALLOWED', ...ANYWHERE]),
  },
};
