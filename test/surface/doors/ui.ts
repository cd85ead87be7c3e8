import { jsonSchema } from '../../../shared/api/fields.ts';
import { errorResponses, jsonResponse, ANYWHERE } from '../../../shared/api/openapi/responses.ts';
import { uiLinkAnswer, uiLinkInput } from '../../../gateway/web/inbox/frame/ui-links.ts';

type Json = Record<string, unknown>;

/** How a program opens the web inbox for a person. The inbox's pages are for people and aren't a stable interface. */
export function uiPaths(): Record<string, Json> {
  return { '/v1/ui/links': { post: LINK } };
}

const LINK = {
  operationId: 'ui_link_create',
  tags: ['ui'],
  summary: 'Make a link that opens the web inbox once.',
  description:
    'For `svc open`. The link is valid for 60 seconds. Its session may do what the key may, and ends with the ' +
    'key or after 12 hours; on a hosted gateway it never decides a request.',
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: jsonSchema(uiLinkInput, 'input'),
        example: { page: 'requests' },
      },
    },
  },
  responses: {
    201: jsonResponse('The link.', jsonSchema(uiLinkAnswer, 'output')),
    ...errorResponses([
      'VALIDATION_FAILED',
      'UNAUTHENTICATED',
      'KEY_REVOKED',
      'METHOD_NOT_ALLOWED',
      'PAYLOAD_TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
      'RATE_LIMITED',
      ...ANYWHERE,
    ]),
  },
};
