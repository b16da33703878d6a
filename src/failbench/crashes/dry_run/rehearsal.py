"""stub"""
import json, os
def rehearse(order, channel):
    o=json.loads(order); ns={"__name__":"__main__","CHANNEL":channel}
    try:
        exec(o["target"], ns); r={"ok":str(ns.get("result"))}
    except BaseException as e:
        r={"error":repr(e)}
    os.write(channel, json.dumps(r).encode())
