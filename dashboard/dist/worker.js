import{Engine as s}from"./model/engine.js";var n=new s(e=>postMessage(e));onmessage=({data:e})=>n.handle(e);postMessage({type:"ready"});
