import { startPostgres, PASSWORD } from '/work/wt-queue/test/stores/postgres-server.ts';
const s = await startPostgres();
console.log(`export CALLSHEET_QUEUE='${s.url()}' CALLSHEET_QUEUE_PASSWORD='${PASSWORD}'`);
process.on('SIGTERM', async () => { await s.stop(); process.exit(0); });
setInterval(()=>{}, 1000);
