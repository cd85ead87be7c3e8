import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

const SECRET_HEADER = 'x-telegram-bot-api-secret-token';
/** Updates are a few KB: a message of 4,096 characters and the one it replies to. */
const BODY_MAX_BYTES = 1024 * 1024;

/** Where Telegram delivers updates. */
export interface Webhook {
  readonly path: string;
  handle(request: Request): Promise<Response>;
}

/**
 * The secret that Telegram sends with updates. It's derived from the token, so that updates around a restart aren't
 * refused; anyone with the token wouldn't need the secret.
 */
export function webhookSecret(token: string): string {
  return createHmac('sha256', token).update('svc webhook secret 1').digest('base64url');
}

/** Answers after the update was handled, so that Telegram repeats it if the process dies. */
export function webhookHandler(
  secret: string,
  take: (update: unknown) => Promise<unknown>,
): Webhook {
  const wanted = digest(secret);
  return {
    path: '/telegram/updates',
    async handle(request) {
      if (request.method !== 'POST') return empty(405, { Allow: 'POST' });
      // Compare digests, because they have equal lengths.
      const given = digest(request.headers.get(SECRET_HEADER) ?? '');
      if (!timingSafeEqual(given, wanted)) return empty(401);
      const body = await readText(request).catch(() => '');
      if (body === null) return empty(413);
      const update = parse(body);
      if (update === undefined) return empty(400);
      await take(update);
      return empty(200);
    },
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function empty(status: number, headers: Record<string, string> = {}): Response {
  return new Response(null, { status, headers });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The body as text; null as soon as it's too long. */
async function readText(request: Request): Promise<string | null> {
  if (Number(request.headers.get('content-length') ?? 0) > BODY_MAX_BYTES) return null;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > BODY_MAX_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
