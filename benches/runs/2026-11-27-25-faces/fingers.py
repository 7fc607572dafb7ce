"""Fingers on cloth on a table: energy that contact creates. PLIANT is the command to run."""
import json,sys,subprocess,csv
def scene(h=1/64,gap=0.004,k='auto',r=0.0039,dt=0.002,sub='auto',pad=(0.025,0.02,0.004),size=0.12,parts=None,mu=0.6,damping=0.2,E=2.5e4,K=1e5,G=2e4,dur=1.0,layers=True,tq=0.2,g=0):
    n=parts or int(round(size/(1.265*h)))
    s={"schema_version":1,"name":"pinch","duration":dur,"dt":dt,"grid_spacing":h,"gravity":[0,0,-9.81*g],"layer_contact":layers,
    "contact":{"particle_radius":r,"stiffness":k,"stiction_tolerance":0.001},
    "cloths":[{"name":"sheet","shape":{"type":"rectangle","size":[size,size],"parts":[n,n]},"material":{"density":1000,"youngs_modulus":E,"poissons_ratio":0.3,"normal_stiffness":K,"damping":damping,"thickness":0.001,"shear_stiffness":G,"friction":0.5}}],
    "bodies":[]}
    if sub!='auto': s['substeps']=sub
    for nm,sg in (("upper",1),("lower",-1)):
        open_z=sg*(r+0.002+pad[2]); z=sg*(gap/2+pad[2])
        s["bodies"].append({"name":nm,"motion":{"type":"prescribed-poses","keyframes":[{"time":0.0,"position":[0,0,open_z]},{"time":tq,"position":[0,0,z]},{"time":10.0,"position":[0,0,z]}]},"geometries":[{"shape":{"type":"box","half_extents":list(pad)},"friction":mu}]})
    return s
def run(name,**k):
    json.dump(scene(**k),open(name+'.json','w'))
    subprocess.run(['rm','-rf',name])
    o=subprocess.run([__import__('os').environ['PLIANT'],'run',name+'.json','--out',name,'--threads','1'],capture_output=True,text=True)
    if not __import__('os').path.exists(name+'/diagnostics.csv'): return o.stderr[-400:]+o.stdout[-300:]
    r=list(csv.DictReader(open(name+'/diagnostics.csv')))
    f=lambda row,key: float(row[key] or 0)
    tq=k.get('tq',0.2)
    at=[x for x in r if float(x['time'])>=tq+0.1][0]; e=r[-1]
    W=[l for l in (o.stdout+o.stderr).split('\n') if 'warning' in l]
    return dict(sub=e['substeps'],ke=f(e,'kinetic_energy'),gain=f(e,'energy_gained')-f(at,'energy_gained'),total=f(e,'energy_gained'),lost_n=f(e,'lost_contact_normal')-f(at,'lost_contact_normal'),lost_f=f(e,'lost_contact_friction')-f(at,'lost_contact_friction'),put=f(e,'energy_put_in'),contacts=e['contacts'],warn=len(W))
def scene2(kind='stack',h=1/64,k='auto',r=0.0039,dt=0.002,sub='auto',mu=0.6,damping=0.2,E=2.5e4,K=1e5,G=2e4,dur=1.0,layers=True,g=1,size=0.2,clear=0.002,drag=0.0,tq=0.2,nsheet=2,tip='capsule',fr=0.5,close=0,bend=0.0,bs=0.0):
    n=int(round(size/(1.265*h)))
    s={"schema_version":1,"name":"pinch","duration":dur,"dt":dt,"grid_spacing":h,"gravity":[0,0,-9.81*g],"layer_contact":layers,
    "contact":{"particle_radius":r,"stiffness":k,"stiction_tolerance":0.001},"cloths":[],
    "bodies":[{"name":"table","motion":{"type":"fixed","pose":{"position":[0,0,-0.05]}},"geometries":[{"shape":{"type":"box","half_extents":[0.3,0.3,0.05]},"friction":mu}]}]}
    for i in range(nsheet):
        s["cloths"].append({"name":f"sheet{i}","shape":{"type":"rectangle","size":[size,size],"parts":[n,n]},"pose":{"position":[0,0,0.75*h+0.75*h*2*i+0.001]},"material":{"density":1000,"youngs_modulus":E,"poissons_ratio":0.3,"normal_stiffness":K,"damping":damping,"thickness":0.001,"shear_stiffness":G,"friction":fr,"bending_stiffness":bend}})
    if sub!='auto': s['substeps']=sub
    z0=0.12; z1=clear+0.004
    shapes={'capsule':[{"shape":{"type":"capsule","radius":0.004,"half_length":0.021},"pose":{"position":[0,0,0],"orientation":[0.7071067811865476,0.7071067811865476,0,0]},"friction":mu}],
            'box':[{"shape":{"type":"box","half_extents":[0.004,0.025,0.02]},"pose":{"position":[0,0,0.016]},"friction":mu}]}
    shapes['both']=shapes['capsule']+[{"shape":{"type":"box","half_extents":[0.004,0.025,0.02]},"pose":{"position":[0,0,0.02]},"friction":mu}]
    def finger(nm,x,dx):
        s["bodies"].append({"name":nm,"motion":{"type":"prescribed-poses","keyframes":[{"time":0.0,"position":[x,0,z0]},{"time":0.3,"position":[x,0,z0]},{"time":0.3+tq,"position":[x,0,z1]},{"time":0.5+tq,"position":[x,0,z1]},{"time":0.8+tq,"position":[x+dx,0,z1]},{"time":10.0,"position":[x+dx,0,z1]}]},"geometries":shapes[tip]})
    if close:
        finger("a",-close,close-0.008); finger("b",close,-close+0.008)
    else: finger("a",0.0,drag)
    return s
def scene(**k): return scene2(**k)
def show(lab,**k):
    k.setdefault('dur',1.6)
    x=run('p'+lab,tq=0.2,**{a:b for a,b in k.items() if a!='tq'})
    print(lab,k,{a:(float(f'{b:.3g}') if isinstance(b,float) else b) for a,b in x.items()} if isinstance(x,dict) else x,flush=True)
if __name__=='__main__':
    show('1'); show('2',drag=0.03); show('3',nsheet=1,drag=0.03); show('4',drag=0.03,tip='box'); show('5',drag=0.03,tip='both'); show('6',close=0.04,tip='both'); show('7',close=0.04,tip='both',sub=8); show('8',close=0.04,tip='both',nsheet=1); show('9',close=0.04,tip='both',layers=False); show('10',close=0.04,tip='both',k=1000);show('11',close=0.04,tip='both',G=0,fr=0);show('12',close=0.04,tip='both',damping=1.0)
