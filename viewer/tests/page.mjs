// Looks at the page in a browser without a screen: it loads without errors, plays, and its pixels
// change. Optional: exits with 3 where there is no Chromium.
//
//   node page.mjs URL [screenshot.png [seconds of the run [script]]]
//
// It speaks the browser's debugging protocol over Node's own WebSocket (Node 20.10 or later).

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';

if (!globalThis.WebSocket) {
  // Node 20 and 21 have it behind a flag.
  const again = spawnSync(process.execPath, ['--experimental-websocket', ...process.argv.slice(1)], { stdio: 'inherit' });
  process.exit(again.status ?? 1);
}

const [url, picture, seconds, script] = process.argv.slice(2);
const browser = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(path => existsSync(path));
if (!browser || !url) {
  console.error(browser ? 'usage: node page.mjs URL [PICTURE [SECONDS [SCRIPT]]]' : 'there is no Chromium');
  process.exit(3);
}

const wait = ms => new Promise(done => setTimeout(done, ms));
const profile = mkdtempSync(join(tmpdir(), 'viewer-page-'));
const child = spawn(browser, [
  '--headless=new', '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
  '--window-size=1280,720', '--hide-scrollbars', '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank',
], { stdio: ['ignore', 'ignore', 'pipe'] });

/** The browser prints where it listens. */
const address = await new Promise((found, failed) => {
  let said = '';
  child.stderr.on('data', data => {
    said += data;
    const match = said.match(/DevTools listening on (ws:\S+)/);
    if (match) found(match[1]);
  });
  child.on('exit', code => failed(new Error(`the browser ended with ${code}: ${said.slice(-500)}`)));
});

const socket = new WebSocket(address);
await new Promise((open, failed) => { socket.onopen = open; socket.onerror = failed; });
const waiting = new Map(), problems = [];
let number = 0, session;
socket.onmessage = ({ data }) => {
  const { id, method, params, result, error } = JSON.parse(data);
  if (id) {
    const [done, failed] = waiting.get(id);
    waiting.delete(id);
    if (error) failed(new Error(error.message)); else done(result);
  }
  if (method === 'Runtime.exceptionThrown') problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
  if (method === 'Runtime.consoleAPICalled' && ['error', 'assert'].includes(params.type)) problems.push(params.args.map(a => a.value ?? a.description).join(' '));
  if (method === 'Log.entryAdded' && params.entry.level === 'error') problems.push(`${params.entry.text} ${params.entry.url ?? ''}`);
};
const ask = (method, params = {}) => new Promise((done, failed) => {
  waiting.set(++number, [done, failed]);
  socket.send(JSON.stringify({ id: number, method, params, sessionId: session }));
});
const evaluate = async expression => {
  const { result, exceptionDetails } = await ask('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
};
const until = async (expression, what, limit = 60000) => {
  for (const end = Date.now() + limit; Date.now() < end; await wait(100)) if (await evaluate(expression).catch(() => false)) return;
  throw new Error(`${what} did not happen within ${limit / 1000} s; status: ${await evaluate("document.getElementById('status')?.textContent")}`);
};
const photograph = async () => Buffer.from((await ask('Page.captureScreenshot', { format: 'png' })).data, 'base64');
const digest = bytes => createHash('sha256').update(bytes).digest('hex');

let code = 0;
try {
  const { targetInfos } = await ask('Target.getTargets');
  session = (await ask('Target.attachToTarget', { targetId: targetInfos.find(t => t.type === 'page').targetId, flatten: true })).sessionId;
  await Promise.all([ask('Runtime.enable'), ask('Log.enable'), ask('Page.enable')]);
  await ask('Emulation.setDeviceMetricsOverride', { width: 1280, height: 720, deviceScaleFactor: 1, mobile: false });
  const begun = Date.now();
  await ask('Page.navigate', { url });
  await until('window.pliantViewer?.state.views.every(view => view.shownFrame >= 0) && pliantViewer.state.views.length > 0', 'the first picture');
  console.log(`first picture after ${Date.now() - begun} ms`);
  await wait(500);
  const first = digest(await photograph());
  await evaluate('pliantViewer.setPlaying(true)');
  await until('pliantViewer.state.at > 3', 'playing');
  const shown = await evaluate(`new Promise(done => { const from = performance.now(), before = pliantViewer.drawn.at(-1);
    const frames = new Set(); const look = () => { frames.add(pliantViewer.state.views[0].shownFrame);
    if (performance.now() - from < 4000) return requestAnimationFrame(look);
    const ticks = pliantViewer.drawn.filter(t => t > before); const span = (ticks.at(-1) - ticks[0]) / 1000;
    done(\`\${((ticks.length - 1) / span).toFixed(1)} pictures/s, \${(frames.size / 4).toFixed(1)} frames of the run/s\`); }; look(); })`);
  console.log(shown);
  await evaluate('pliantViewer.setPlaying(false)');
  if (digest(await photograph()) === first) problems.push('the pixels did not change while it played');
  if (script) console.log(await evaluate(script));
  if (seconds) {
    await evaluate(`(() => { const s = pliantViewer.state; pliantViewer.go(s.moments.findLastIndex(t => t <= ${Number(seconds)} + 1e-9)); })()`);
    await until('pliantViewer.state.views.every(view => view.shownFrame === view.frameAt(pliantViewer.state.time))', 'the frame');
  }
  await wait(800);
  if (picture) writeFileSync(picture, await photograph());
  const status = await evaluate("document.getElementById('status').textContent");
  if (status) problems.push(`status: ${status}`);
} catch (error) {
  problems.push(error.message);
}
for (const problem of problems) { console.error(problem); code = 1; }
child.kill();
await new Promise(done => { child.on('exit', done); setTimeout(done, 3000); });
// Processes of the browser may still be writing there; what stays is in the folder for temporary files.
try { rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }); } catch { /* see above */ }
process.exit(code);
