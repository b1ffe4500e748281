import type { IncomingMessage, ServerResponse } from 'node:http';
import { followJournals } from './journal-feed.ts';

/** Often enough to look alive; a look is one listing of a folder while no run is at work. */
const LOOK_MS = 400;
/** What keeps a connection open that nothing is to be told on. */
const ALIVE_MS = 15_000;

/** Tells one browser what runs do, until it goes away or the page is closed. */
export async function streamEvents(
  stateFile: string,
  request: IncomingMessage,
  response: ServerResponse,
  stop: AbortSignal,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  // A browser that lost the connection comes back after a second, and says where it was.
  response.write('retry: 1000\n\n');
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  response.on('error', () => gone.abort());
  const over = AbortSignal.any([stop, gone.signal]);
  const last = request.headers['last-event-id'];
  const feed = followJournals(stateFile, typeof last === 'string' ? last : undefined);
  let quiet = 0;
  while (!over.aborted) {
    const notes = await feed.next();
    for (const { id, event } of notes) {
      response.write(`id: ${id}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    quiet = notes.length > 0 ? 0 : quiet + LOOK_MS;
    if (quiet >= ALIVE_MS) {
      response.write(': still here\n\n');
      quiet = 0;
    }
    await pause(LOOK_MS, over);
  }
  response.end();
}

function pause(milliseconds: number, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      over.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    over.addEventListener('abort', done, { once: true });
    if (over.aborted) done();
  });
}
