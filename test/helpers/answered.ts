// The first server in a process replaces the global Response. What stands for "already answered" works only if it is made before.
await import('@hono/node-server/utils/response');
