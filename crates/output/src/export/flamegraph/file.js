// Where the picture is if it is a file of its own: its numbers are in it, and it is as wide as the window.
const data = JSON.parse(document.getElementById('flame-data').textContent);
const svg = document.getElementById('flamegraph');
const host = { inPage: data.page === 'html', width: () => document.documentElement.clientWidth };
document.getElementById('flame-still').remove();

