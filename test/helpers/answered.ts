// The first server in a process replaces the global Response. What stands for "already answered" works only if it is made before.
import '@hono/node-server/utils/response';
