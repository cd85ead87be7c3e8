// The first server in a process replaces the global Response. So make the "already answered" response before that, or it won't work.
await import('@hono/node-server/utils/response');
