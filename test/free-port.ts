import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A port of the loopback that is free, for a program that has to be told one. It lies below those that systems give
 * out themselves, so that no server that listens anywhere takes it before that program does.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
